"""The data of a comparison from arrays and data frames in Python."""

import dataclasses
from typing import Any

import numpy as np

from csdl_keras._utils.arrays import check_rows, input_array
from csdl_keras._utils.labels import check_decisions, own_classes, positions
from csdl_keras.costs import check_cost_matrix, check_cost_vectors, check_labels, class_means
from csdl_keras.costs.known import AffineCosts, check_known_costs, mean_matrix
from csdl_keras.costs.named_matrix import by_class, names_of_frame
from csdl_keras_cli.columns import Columns, Table, is_frame
from csdl_keras_cli.data import Data
from csdl_keras_cli.splits import split


def data_of_arrays(
    x: Any, y: Any, costs: Any, today: Any, split_by: Any, groups: Any, seed: int
) -> Data:
    """Checks what `csdl_keras.compare` is given, and splits it."""
    classes = own_classes("y", y)
    numbers = check_labels(y if classes is None else positions("y", y, classes))
    parts = split(numbers, seed, split_by, groups)
    inputs = _inputs(x, parts["train"])
    check_rows("x", inputs, len(numbers))
    matrix, vectors, known = _costs(costs, len(numbers), classes)
    shape = next(it for it in (matrix, vectors, known) if it is not None).shape
    size = shape[-2] if vectors is None else (max(numbers) + 1 if classes is None else len(classes))
    check_labels(numbers, int(size))
    labels = tuple(range(int(size))) if classes is None else tuple(classes.tolist())
    _, named = names_of_frame(costs) if is_frame(costs) else (None, None)
    others = [f"decision_{it}" for it in range(len(labels), shape[-1])]
    if named is not None:
        others = [str(it) for it in named if it not in labels]
    order = "at random within each label" if split_by is None else "the latest are the test"
    if groups is not None:
        order += ", no group in two parts"
    data = Data(
        "data",
        labels,
        {part: inputs[rows] for part, rows in parts.items()},
        {part: numbers[rows] for part, rows in parts.items()},
        (*map(str, labels), *others),
        order=order,
        amounts=matrix,
    )
    if vectors is not None:
        own = {part: vectors[rows] for part, rows in parts.items()}
        means = class_means(data.y["train"], own["train"], len(labels))
        data = dataclasses.replace(data, costs=own, amounts=means)
    if known is not None:
        own = {part: known[rows] for part, rows in parts.items()}
        data = dataclasses.replace(data, known=own, amounts=mean_matrix(own["train"]))
    if today is not None:
        taken = np.asarray(today)
        if taken.dtype.kind not in "iu" or classes is not None:
            taken = positions("today", taken.astype("str"), data.decisions)
        taken = check_decisions(taken, len(numbers), len(data.decisions), "today")
        data = dataclasses.replace(data, today=taken[parts["test"]])
    return data


def _inputs(x: Any, train: np.ndarray) -> Any:
    """Returns a `Table` of rows or a data frame, or images with their channels."""
    if is_frame(x):
        columns = Columns.of(x[train] if not hasattr(x, "iloc") else x.iloc[train])
        return Table(columns.encode(x), columns)
    array = input_array("x", x)
    if array.ndim == 2:
        return Table(
            array.astype("float64"), Columns((*range(array.shape[1]),), (None,) * array.shape[1])
        )
    return (array if array.ndim == 4 else array[..., None]).astype("float32")


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
