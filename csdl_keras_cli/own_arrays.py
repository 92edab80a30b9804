"""The data of a comparison from arrays and data frames in Python."""

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
    """Checks what `csdl_keras.compare` is given, and splits it."""
    classes = own_classes("y", y)
    numbers = check_labels(y if classes is None else positions("y", y, classes))
    parts = split(numbers, seed, split_by, groups)
    x = x if is_frame(x) else input_array("x", x)
    check_rows("x", x, len(numbers))
    inputs = _inputs(x, parts["train"])
    matrix, vectors, known = _costs(costs, len(numbers), classes)
    own = known if vectors is None else vectors
    num_labels, num_decisions = (matrix if own is None else own).shape[-2:]
    if vectors is not None:
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
        if vectors is None:
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


def _inputs(x: Any, train: np.ndarray) -> Any:
    """Returns a `Table` of rows or a data frame, or images with their channels."""
    if is_frame(x):
        return as_table(x, train)
    if x.ndim == 2:
        return as_table(pandas.DataFrame(x))
    return (x if x.ndim == 4 else x[..., None]).astype("float32")


def _costs(costs: Any, size: int, classes: Any) -> tuple[Any, Any, Any]:
    """Returns a cost matrix, cost vectors, or costs known when deciding; the others are `None`."""
    if isinstance(costs, AffineCosts) or np.ndim(costs) == 3:
        return None, None, check_known_costs(costs, size)
    if len(costs) == size:
        return None, check_cost_vectors(costs, classes=classes), None
    if classes is None and is_frame(costs):
        classes = np.arange(len(costs))
    matrix = by_class("costs", costs, "(K, D)", classes)
    return check_cost_matrix(matrix, square=False), None, None
