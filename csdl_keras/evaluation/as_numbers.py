"""Converts arguments of scores to numbers: labels and decisions of any type, costs with names."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from csdl_keras._utils.arrays import as_array
from csdl_keras._utils.labels import (
    check_decisions,
    class_labels,
    decision_labels,
    label_array,
    positions,
)
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.checks import check_cost_vectors, check_labels
from csdl_keras.costs.known import CostsLike, KnownCosts, check_known_costs


def as_numbers(
    y_true: ArrayLike, cost_matrix: CostsLike | None, classes: Any, **decisions: ArrayLike
) -> tuple[Any, ...]:
    """Returns checked labels or cost vectors, costs by class or `None`, and decisions."""
    true: Any = y_true if cost_matrix is None else label_array("y_true", y_true)
    labels = known_classes(true, classes)
    costs: KnownCosts | None = None
    if cost_matrix is None:
        if as_array("y_true", true, "(N, D)").ndim == 1:
            raise ValueError(
                "`y_true` has one dimension, but there is no `cost_matrix`. Pass labels and a "
                "matrix, or cost vectors (N, D)."
            )
        true = check_cost_vectors(true, classes=labels)
        num_decisions = true.shape[1]
        num_classes = num_decisions if labels is None else min(len(labels), num_decisions)
    else:
        shape: Any = getattr(cost_matrix, "shape", ())  # Lists have no names.
        rows = labels if labels is None or len(shape) < 2 else labels[: shape[-2]]
        costs = check_known_costs(cost_matrix, len(np.atleast_1d(true)), classes=rows)
        num_classes, num_decisions = costs.shape[-2:]
    if labels is not None:
        if len(labels) not in (num_classes, num_decisions):
            raise ValueError(
                f"`classes` has {len(labels)} labels. Pass {num_classes}, one for each class, or "
                f"{num_decisions}, one for each decision."
            )
        others = labels[num_classes:].tolist() or None
        labels = decision_labels(labels[:num_classes], num_decisions, others)
    if cost_matrix is not None:
        of_classes = None if labels is None else labels[:num_classes]
        true = check_labels(_numbers("y_true", true, of_classes), num_classes)
    numbers = {name: _numbers(name, own, labels) for name, own in decisions.items()}
    checked = (check_decisions(it, len(true), num_decisions, name) for name, it in numbers.items())
    return true, costs, *checked


def known_classes(y_true: ArrayLike, classes: Any) -> np.ndarray | None:
    """Returns the class labels; `[False, True]` if the labels of the examples are booleans."""
    labels = class_labels(classes)
    if labels is not None:
        return labels
    of_booleans = as_array("y_true", y_true, "(N, ...)").dtype == bool
    return np.array([False, True]) if of_booleans else None


def _numbers(name: str, values: ArrayLike, known: np.ndarray | None) -> np.ndarray:
    """Returns labels as their positions among those that are known, if any."""
    labels = label_array(name, values)
    # Integers are already positions if the known labels are strings or booleans.
    if known is None or (labels.dtype.kind in "iu" and known.dtype.kind not in "iuf"):
        return labels
    return positions(name, labels, known)


def names_of(
    shape: tuple[int, ...],
    class_names: Iterable[object] | None,
    decision_names: Iterable[object] | None,
    classes: Any = None,
) -> tuple[list[str], list[str]]:
    """Returns names of a matrix's rows and columns, by default labels of classes or indices."""
    num_classes, num_decisions = shape
    if class_names is None:
        known = class_labels(classes)
        class_names = range(num_classes) if known is None else known[:num_classes]
    rows = [*map(str, class_names)]
    if decision_names is None:
        decision_names = [*rows[:num_decisions], *range(num_classes, num_decisions)]
    columns = [*map(str, decision_names)]
    for name, names, number in (("class", rows, num_classes), ("decision", columns, num_decisions)):
        if len(names) != number:
            raise ValueError(f"Expected `{name}_names` to be {number} names; received {names}.")
    return rows, columns
