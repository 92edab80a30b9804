"""Computes costs of decisions, absolute and relative to the best constant decision."""

from typing import Any

import numpy as np

from csdl_keras._utils.labels import check_decisions
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.known import CostsLike, KnownCosts, vectors_of_labels
from csdl_keras.evaluation.as_numbers import as_numbers


def example_costs(true: np.ndarray, known: KnownCosts | None) -> np.ndarray:
    """Returns the cost of each decision for each example, `(N, D)`, from `as_numbers`."""
    return true if known is None else vectors_of_labels(true, known)


def chosen_costs(costs: np.ndarray, decisions: ArrayLike) -> np.ndarray:
    """Returns the cost of the decision for each row of `costs`, `(N,)`."""
    return costs[np.arange(len(costs)), check_decisions(decisions, *costs.shape)]


def decision_costs(
    y_true: ArrayLike,
    decisions: ArrayLike,
    cost_matrix: CostsLike | None = None,
    classes: Any = None,
) -> np.ndarray:
    """Computes the cost of each example's decision, `C[y_n, d_n]` or `c_n[d_n]`.

    Args:
        y_true: integer labels `(N,)`, or without a cost matrix cost vectors `(N, D)`.
        decisions: integers `(N,)`, as returned by `csdl_keras.decide`.
        cost_matrix: `(K, D)`, `C[true, decision]`, or costs of each example, `(N, K, D)` or
            `csdl_keras.costs.AffineCosts`; `None` (default) if `y_true` is cost vectors.
        classes: the `K` labels of the classes, or the model or estimator that has them. Labels,
            decisions and names of `cost_matrix` may then be of any type. `D` labels include other
            decisions. `None` (default) if labels are row numbers, or booleans.

    Returns:
        A float64 array `(N,)`.

    Example:

    >>> decision_costs([0, 1, 1], [0, 0, 1], [[0, 1], [9, 0]])
    array([0., 9., 0.])
    """
    true, known, chosen = as_numbers(y_true, cost_matrix, classes, decisions=decisions)
    return chosen_costs(example_costs(true, known), chosen)


def average_cost(
    y_true: ArrayLike,
    decisions: ArrayLike,
    cost_matrix: CostsLike | None = None,
    classes: Any = None,
) -> float:
    """Computes the average of `decision_costs`, as the metric `AverageCost` does.

    Arguments are those of `decision_costs`.

    Example:

    >>> average_cost([0, 1, 1], [0, 0, 1], [[0, 1], [9, 0]])
    3.0
    """
    return float(decision_costs(y_true, decisions, cost_matrix, classes).mean())


def normalized_cost(
    y_true: ArrayLike,
    decisions: ArrayLike,
    cost_matrix: CostsLike | None = None,
    classes: Any = None,
) -> float:
    """Computes `sum_n c_n[d_n] / min_k sum_n c_n[k]`, the cost relative to a constant decision's.

    A perfect model has 0; at 1 or above, the best constant decision would cost no more. If this
    decision costs nothing, a ValueError is raised. Arguments are those of `average_cost`.

    Example:

    >>> normalized_cost([0, 1, 1], [0, 0, 1], [[0, 1], [9, 0]])
    9.0
    """
    true, known, chosen = as_numbers(y_true, cost_matrix, classes, decisions=decisions)
    costs = example_costs(true, known)
    constant = costs.sum(axis=0)
    if not constant.min():
        raise ValueError(
            f"Always deciding {int(constant.argmin())} costs nothing, so costs relative to it are "
            "undefined. Use average_cost."
        )
    return float(chosen_costs(costs, chosen).sum() / constant.min())


def savings(
    y_true: ArrayLike,
    decisions: ArrayLike,
    cost_matrix: CostsLike | None = None,
    classes: Any = None,
) -> float:
    """Computes `1 - normalized_cost`, the share of the best constant decision's cost that is saved.

    A perfect model has 1; below 0, the decisions cost more than the best constant decision.
    Arguments are those of `average_cost`.

    References:
        - [Bahnsen, Aouada, Ottersten: Example-dependent cost-sensitive decision trees, Expert
          Systems with Applications 2015](https://doi.org/10.1016/j.eswa.2015.04.042)

    Example:

    >>> savings([0, 1, 1, 0], [0, 1, 1, 1], [[0, 1], [9, 0]])
    0.5
    """
    return 1.0 - normalized_cost(y_true, decisions, cost_matrix, classes)


def error_rate(
    y_true: ArrayLike,
    decisions: ArrayLike,
    cost_matrix: CostsLike | None = None,
    classes: Any = None,
) -> float:
    """Computes the share of wrong decisions among those for a class.

    With labels, decisions that are not classes, such as abstaining, are not counted. With cost
    vectors, which do not show the classes, every decision that is not the cheapest is wrong.

    Args:
        y_true, decisions, cost_matrix, classes: as in `average_cost`.

    Returns:
        A float; NaN if no decision is for a class.

    Example:

    >>> error_rate([0, 1, 1], [0, 2, 0], [[0, 1, 0.5], [9, 0, 0.5]])
    0.5
    """
    true, known, chosen = as_numbers(y_true, cost_matrix, classes, decisions=decisions)
    if known is None:
        return float(np.mean(chosen_costs(true, chosen) > true.min(axis=1)))
    decided = chosen < known.shape[-2]
    return float(np.mean(chosen[decided] != true[decided])) if decided.any() else float("nan")


def cost_per_class(
    y_true: ArrayLike, decisions: ArrayLike, cost_matrix: CostsLike, classes: Any = None
) -> np.ndarray:
    """Computes the average cost of the examples of each true class.

    Args:
        y_true, decisions, cost_matrix, classes: as in `average_cost`, with labels.

    Returns:
        A float64 array `(K,)`; NaN for a class without examples.

    Example:

    >>> cost_per_class([0, 1, 1], [0, 0, 1], [[0, 1], [9, 0]])
    array([0. , 4.5])
    """
    labels, known, chosen = as_numbers(y_true, cost_matrix, classes, decisions=decisions)
    num_classes, paid = known.shape[-2], chosen_costs(example_costs(labels, known), chosen)
    totals = np.bincount(labels, weights=paid, minlength=num_classes)
    counts = np.bincount(labels, minlength=num_classes)
    return np.divide(totals, counts, out=np.full(num_classes, np.nan), where=counts > 0)
