"""Tells costs that are known when deciding from what decisions turn out to cost."""

import numpy as np
from sklearn.utils import column_or_1d

from csdl_keras._utils.arrays import check_rows
from csdl_keras._utils.labels import label_array, positions
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs import check_cost_vectors
from csdl_keras.costs.known import (
    AffineCosts,
    CostsLike,
    KnownCosts,
    check_known_costs,
    vectors_of_labels,
)
from csdl_keras.costs.named_matrix import by_class


def given_costs(
    costs: CostsLike, num_examples: int, classes: np.ndarray, num_decisions: int | None = None
) -> tuple[KnownCosts | None, np.ndarray | None]:
    """Returns costs that are known when deciding, or cost vectors, as their shape tells.

    Cost vectors `(N, D)` say what each decision costs an example whose class is known; costs known
    when deciding are `(N, K, D)` or `AffineCosts`. One of the pair is `None`.
    """
    num_classes = len(classes)
    if isinstance(costs, AffineCosts):
        return check_known_costs(costs, num_examples, num_classes), None
    array = by_class("costs", costs, "(N, D) or (N, K, D)", classes, of_examples=True)
    if array.ndim == 3:
        return check_known_costs(array, num_examples, num_classes), None
    vectors = check_cost_vectors(array, num_decisions)
    check_rows("costs", vectors, num_examples)
    return None, vectors


def column(name: str, y: ArrayLike) -> np.ndarray:
    """Returns labels `(N,)` of any type, also from a table of one column."""
    return label_array(name, column_or_1d(y))


def true_costs(
    y: ArrayLike, classes: np.ndarray, cost_matrix: np.ndarray | None, costs: CostsLike | None
) -> tuple[np.ndarray, KnownCosts | None]:
    """Returns what decisions cost examples, `(N, D)`, and the costs known when deciding, or `None`.

    The matrix is used without `costs`, which are those of `given_costs`.
    """
    labels, known, vectors = column("y", y), None, None
    if costs is not None:
        decisions = None if cost_matrix is None else cost_matrix.shape[1]
        known, vectors = given_costs(costs, len(labels), classes, decisions)
    if vectors is not None:
        return vectors, None
    matrix = cost_matrix if known is None else known
    if matrix is None:
        raise ValueError(
            "Expected `costs` of each example, since there is no cost matrix; received None. "
            "If scikit-learn calls it, request them: set_score_request(costs=True)."
        )
    return vectors_of_labels(positions("y", labels, classes), matrix), known
