"""The data of a comparison, made from arrays and data frames."""

import dataclasses
from typing import Any

import numpy as np
import pandas

from csdl_keras._utils.arrays import check_rows, input_array
from csdl_keras._utils.labels import check_decisions, own_classes, positions
from csdl_keras.costs import check_cost_matrix, check_cost_vectors, check_labels, class_means
from csdl_keras.costs.known import AffineCosts, check_known_costs, mean_matrix
from csdl_keras.costs.named_matrix import by_class, names_of_frame
from csdl_keras_cli.columns import as_table, is_frame
from csdl_keras_cli.data import Data
from csdl_keras_cli.splits import split


def data_of_arrays(
    x: Any, y: Any, costs: Any, today: Any, split_by: Any, groups: Any, seed: int
) -> Data:
    """Checks and splits the data of `csdl_keras.compare`."""
    classes = own_classes("y", y)
    numbers = check_labels(y if classes is None else positions("y", y, classes))
    parts = split(numbers, seed, split_by, groups)
    x = x if is_frame(x) else input_array("x", x)
    check_rows("x", x, len(numbers))
    inputs: Any = as_table(x if is_frame(x) or x.ndim != 2 else pandas.DataFrame(x), parts["train"])
    if inputs is None:
        inputs = (x if x.ndim == 4 else x[..., None]).astype("float32")
    known = isinstance(costs, AffineCosts) or np.ndim(costs) == 3
    own: Any = None
    matrix: Any = None
    if known:
        own = check_known_costs(costs, len(numbers))
    elif len(costs) == len(numbers):
        own = check_cost_vectors(costs, classes=classes)
    else:
        order = np.arange(len(costs)) if classes is None and is_frame(costs) else classes
        matrix = check_cost_matrix(by_class("costs", costs, "(K, D)", order), square=False)
    num_labels, num_decisions = (matrix if own is None else own).shape[-2:]
    if own is not None and not known:
        num_labels = max(numbers) + 1 if classes is None else len(classes)
    check_labels(numbers, int(num_labels))
    labels = tuple(range(num_labels)) if classes is None else tuple(classes.tolist())
    others = [f"decision_{it}" for it in range(len(labels), num_decisions)]
    if is_frame(costs) and (named := names_of_frame(costs)[1]) is not None:
        others = [str(it) for it in named if it not in labels]
    data = Data(
        "data",
        labels,
        {part: inputs[rows] for part, rows in parts.items()},
        {part: numbers[rows] for part, rows in parts.items()},
        (*map(str, labels), *others),
        amounts=matrix,
    )
    if own is not None:
        by_part = {part: own[rows] for part, rows in parts.items()}
        if known:
            means = mean_matrix(by_part["train"])
            data = dataclasses.replace(data, known=by_part, amounts=means)
        else:
            means = class_means(data.y["train"], by_part["train"], len(labels))
            data = dataclasses.replace(data, costs=by_part, amounts=means)
    if today is None:
        return data
    taken = np.asarray(today)
    if taken.dtype.kind not in "iu" or classes is not None:
        taken = positions("today", taken.astype("str"), data.decisions)
    taken = check_decisions(taken, len(numbers), len(data.decisions), "today")
    return dataclasses.replace(data, today=taken[parts["test"]])
