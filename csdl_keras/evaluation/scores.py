"""Scores of decisions: what they cost, plainly and beside the best constant decision."""

from typing import Any

import numpy as np

from csdl_keras._utils.arrays import as_array, check_decisions
from csdl_keras.costs import check_cost_matrix, check_cost_vectors, check_labels, cost_vectors


def example_costs(y_true: Any, cost_matrix: Any = None) -> np.ndarray:
    """`(N, D)`: what each decision costs for each example."""
    if cost_matrix is None:
        if as_array("y_true", y_true, "(N, D)").ndim == 1:
            raise ValueError(
                "Expected cost vectors (N, D), or labels and a `cost_matrix`; received one "
                "dimension and no matrix."
            )
        return check_cost_vectors(y_true)
    return cost_vectors(cost_matrix, y_true)


def possible_costs(y_true: Any, cost_matrix: Any = None) -> np.ndarray:
    """Costs that an example may come with, a row for each kind: `(K, D)` or `(N, D)`."""
    if cost_matrix is None:
        return example_costs(y_true)
    return check_cost_matrix(cost_matrix, square=False)


def decision_costs(y_true: Any, decisions: Any, cost_matrix: Any = None) -> np.ndarray:
    """What each example's decision costs, `C[y_n, d_n]` or `c_n[d_n]`.

    Args:
        y_true: integer labels `(N,)`, or without a cost matrix cost vectors `(N, D)`.
        decisions: integers `(N,)`, as `csdl_keras.decide` returns them.
        cost_matrix: `(K, D)`, `C[true, decision]`; `None` (default) if `y_true`
            holds cost vectors.

    Returns:
        A float64 array `(N,)`.

    Raises:
        ValueError: if an argument fails its check or lengths differ.

    Example:

    >>> decision_costs([0, 1, 1], [0, 0, 1], [[0, 1], [9, 0]])
    array([0., 9., 0.])
    """
    costs = example_costs(y_true, cost_matrix)
    chosen = check_decisions(decisions, *costs.shape)
    return costs[np.arange(len(costs)), chosen]


def average_cost(y_true: Any, decisions: Any, cost_matrix: Any = None) -> float:
    """The average of `decision_costs`, what the metric `AverageCost` reports.

    Args:
        y_true: as in `decision_costs`, and so are the others.
        decisions: integers `(N,)`.
        cost_matrix: `(K, D)` or `None`.

    Returns:
        A float.

    Raises:
        ValueError: as `decision_costs`.

    Example:

    >>> average_cost([0, 1, 1], [0, 0, 1], [[0, 1], [9, 0]])
    3.0
    """
    return float(decision_costs(y_true, decisions, cost_matrix).mean())


def normalized_cost(y_true: Any, decisions: Any, cost_matrix: Any = None) -> float:
    """The average cost in units of that of the best constant decision.

    `sum_n c_n[d_n] / min_k sum_n c_n[k]`. Below 1, looking at the inputs pays;
    0 is a perfect model.

    Args:
        y_true: as in `decision_costs`, and so are the others.
        decisions: integers `(N,)`.
        cost_matrix: `(K, D)` or `None`.

    Returns:
        A float.

    Raises:
        ValueError: as `decision_costs`, or if some constant decision costs nothing.

    Example:

    >>> normalized_cost([0, 1, 1], [0, 0, 1], [[0, 1], [9, 0]])
    9.0
    """
    costs = example_costs(y_true, cost_matrix)
    constant = costs.sum(axis=0)
    if not constant.min():
        raise ValueError(
            f"Expected every constant decision to cost something; received costs for which always "
            f"deciding {int(constant.argmin())} costs nothing."
        )
    chosen = check_decisions(decisions, *costs.shape)
    return float(costs[np.arange(len(costs)), chosen].sum() / constant.min())


def savings(y_true: Any, decisions: Any, cost_matrix: Any = None) -> float:
    """The share of the best constant decision's cost that the decisions save.

    `1 - normalized_cost`; 1 is a perfect model, below 0 the decisions cost more
    than always deciding the same.

    Args:
        y_true: as in `decision_costs`, and so are the others.
        decisions: integers `(N,)`.
        cost_matrix: `(K, D)` or `None`.

    Returns:
        A float, at most 1.

    Raises:
        ValueError: as `normalized_cost`.

    References:
        - [Bahnsen, Aouada, Ottersten: Example-dependent cost-sensitive decision
          trees, Expert Systems with Applications
          2015](https://doi.org/10.1016/j.eswa.2015.04.042)

    Example:

    >>> savings([0, 1, 1, 0], [0, 1, 1, 1], [[0, 1], [9, 0]])
    0.5
    """
    return 1.0 - normalized_cost(y_true, decisions, cost_matrix)


def error_rate(y_true: Any, decisions: Any, cost_matrix: Any = None) -> float:
    """The share of wrong decisions, among those for a class.

    With labels, a decision for another class than the true one is wrong, and a
    decision that is no class, such as to abstain, is not counted at all. Cost vectors
    do not say which decisions are classes: wrong is what is not the cheapest.

    Args:
        y_true: as in `decision_costs`, and so are the others.
        decisions: integers `(N,)`.
        cost_matrix: `(K, D)` or `None`.

    Returns:
        A float; NaN if no decision is for a class.

    Raises:
        ValueError: as `decision_costs`.

    Example:

    >>> error_rate([0, 1, 1], [0, 2, 0], [[0, 1, 0.5], [9, 0, 0.5]])
    0.5
    """
    costs = example_costs(y_true, cost_matrix)
    chosen = check_decisions(decisions, *costs.shape)
    if cost_matrix is None:
        return float(np.mean(costs[np.arange(len(costs)), chosen] > costs.min(axis=1)))
    classes = len(check_cost_matrix(cost_matrix, square=False))
    decided = chosen < classes
    labels = check_labels(y_true, classes)
    return float(np.mean(chosen[decided] != labels[decided])) if decided.any() else float("nan")


def cost_per_class(y_true: Any, decisions: Any, cost_matrix: Any) -> np.ndarray:
    """The average cost of each true class's examples.

    Args:
        y_true: integer labels `(N,)`.
        decisions: integers `(N,)`.
        cost_matrix: `(K, D)`, `C[true, decision]`.

    Returns:
        A float64 array `(K,)`; NaN for a class without examples.

    Raises:
        ValueError: as `decision_costs`.

    Example:

    >>> cost_per_class([0, 1, 1], [0, 0, 1], [[0, 1], [9, 0]])
    array([0. , 4.5])
    """
    matrix = check_cost_matrix(cost_matrix, square=False)
    labels = check_labels(y_true, len(matrix))
    paid = decision_costs(labels, decisions, matrix)
    totals = np.bincount(labels, weights=paid, minlength=len(matrix))
    counts = np.bincount(labels, minlength=len(matrix))
    return np.divide(totals, counts, out=np.full(len(matrix), np.nan), where=counts > 0)
