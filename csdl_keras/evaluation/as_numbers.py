"""What users pass to scores, as numbers: labels and decisions of any type, and costs with names."""

from typing import Any

import numpy as np

from csdl_keras._utils.arrays import as_array
from csdl_keras._utils.labels import class_labels, decision_labels, label_array, positions
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.checks import check_cost_vectors
from csdl_keras.costs.known import AffineCosts, CostsLike, KnownCosts, check_known_costs


def as_numbers(
    y_true: ArrayLike, cost_matrix: CostsLike | None, classes: Any, *decisions: ArrayLike
) -> tuple[Any, ...]:
    """Returns labels or cost vectors, costs and decisions as arrays."""
    true: Any = y_true if cost_matrix is None else label_array("y_true", y_true)
    labels = known_classes(true, classes)
    chosen = [label_array("decisions", own) for own in decisions]
    costs: KnownCosts | None = None
    if cost_matrix is None:
        if as_array("y_true", true, "(N, D)").ndim == 1:
            raise ValueError(
                "Expected cost vectors (N, D), or labels and a `cost_matrix`; received one "
                "dimension and no matrix."
            )
        true = check_cost_vectors(true, classes=labels)
        num_decisions = true.shape[1]
        num_classes = num_decisions if labels is None else min(len(labels), num_decisions)
    else:
        shape = _shape(cost_matrix)
        rows = labels if labels is None or len(shape) < 2 else labels[: shape[-2]]
        costs = check_known_costs(cost_matrix, classes=rows)
        num_classes, num_decisions = costs.shape[-2:]
    if labels is not None:
        if len(labels) not in (num_classes, num_decisions):
            raise ValueError(
                f"Expected `classes` to be {num_classes} labels, one for each class, or "
                f"{num_decisions}, one for each decision; received {len(labels)}."
            )
        if cost_matrix is not None:
            true = _numbers("y_true", true, labels[:num_classes])
        others = labels[num_classes:].tolist() or None
        options = decision_labels(labels[:num_classes], num_decisions, others)
        chosen = [_numbers("decisions", own, options) for own in chosen]
    return true, costs, *chosen


def known_classes(y_true: ArrayLike, classes: Any) -> np.ndarray | None:
    """Returns the labels of the classes, also where those of the examples are booleans."""
    labels = class_labels(classes)
    if labels is not None:
        return labels
    of_booleans = as_array("y_true", y_true, "(N, ...)").dtype == bool
    return np.array([False, True]) if of_booleans else None


def _shape(costs: Any) -> tuple[int, ...]:
    if isinstance(costs, AffineCosts):
        return costs.shape
    return as_array("cost_matrix", costs, "(K, D) or (N, K, D)").shape


def _numbers(name: str, labels: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Returns labels as their positions among those that are known."""
    # Integers are positions already where those that are known are strings or booleans.
    if labels.dtype.kind in "iu" and known.dtype.kind not in "iuf":
        return labels
    return positions(name, labels, known)
