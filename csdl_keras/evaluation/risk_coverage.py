"""Computes risk against coverage: how well expected costs rank examples by their true costs."""

from typing import Any

import numpy as np

from csdl_keras._utils.arrays import check_rows, real_array
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.known import CostsLike
from csdl_keras.evaluation.as_numbers import as_numbers
from csdl_keras.evaluation.scores import example_costs


def risk_coverage_curve(
    y_true: ArrayLike,
    expected_costs: ArrayLike,
    cost_matrix: CostsLike | None = None,
    classes: Any = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Computes the average cost of the examples whose decisions are expected to cost least.

    Args:
        y_true, cost_matrix, classes: as in `decision_costs`.
        expected_costs: expected cost of each decision, shape `(N, D)`, of any sign.

    Returns:
        Coverages `1 / N, 2 / N, ..., 1` and the average true cost of the examples covered, both
        `(N,)`. Examples with equal expected costs stay in the given order.

    Example:

    >>> expected = [[0.5, 0.9], [0.8, 0.1], [0.3, 0.6], [0.7, 1.2]]
    >>> coverages, risks = risk_coverage_curve([0, 1, 0, 1], expected, [[0, 1], [8, 0]])
    >>> coverages, risks
    (array([0.25, 0.5 , 0.75, 1.  ]), array([0., 0., 0., 2.]))
    """
    true = example_costs(*as_numbers(y_true, cost_matrix, classes))
    shape = f"(N, {true.shape[1]}), a column for each decision,"
    expected = real_array("expected_costs", expected_costs, 2, shape, columns=true.shape[1])
    check_rows("expected_costs", expected, len(true))
    order = np.argsort(expected.min(axis=1), kind="stable")
    costs = true[np.arange(len(true)), expected.argmin(axis=1)][order]
    kept = np.arange(1, len(true) + 1)
    return kept / len(true), np.cumsum(costs) / kept


def risk_coverage_area(
    y_true: ArrayLike,
    expected_costs: ArrayLike,
    cost_matrix: CostsLike | None = None,
    classes: Any = None,
) -> float:
    """Computes the mean of the risks of `risk_coverage_curve`; the lower, the better.

    Among models with the same decisions, it is smallest for one whose expected costs rank examples
    by their true costs. Arguments are those of `risk_coverage_curve`.

    Example:

    >>> expected = [[0.5, 0.9], [0.8, 0.1], [0.3, 0.6], [0.7, 1.2]]
    >>> risk_coverage_area([0, 1, 0, 1], expected, [[0, 1], [8, 0]])
    0.5
    """
    return float(risk_coverage_curve(y_true, expected_costs, cost_matrix, classes)[1].mean())
