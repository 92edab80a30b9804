"""Confidence intervals of average costs and of differences between them."""

import dataclasses
from typing import Any

import numpy as np

from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.known import CostsLike
from csdl_keras.evaluation.as_numbers import as_numbers
from csdl_keras.evaluation.bounded_mean import BoundedMean
from csdl_keras.evaluation.cost_bounds import CostBounds
from csdl_keras.evaluation.scores import decision_costs


def cost_interval(
    y_true: ArrayLike,
    decisions: ArrayLike,
    cost_matrix: CostsLike | None = None,
    confidence: float = 0.95,
    largest: float | None = None,
    classes: Any = None,
) -> tuple[float, float]:
    """Computes a confidence interval of the average cost of decisions on new examples.

    Most decisions cost nothing and a few cost much, and a test set may not contain the costliest
    mistake. So Gaffke's interval uses the largest possible cost besides those that were observed:
    that of the matrix, or `largest`. Where costs are of each example and `largest` is not given, it
    is judged by the largest amounts seen, up to eight times the largest one. In simulations with
    rare and frequent mistakes, costs of a matrix and heavy-tailed amounts, 95 % intervals contained
    the expected cost in at least 93 % of the test sets of every case
    (`benchmarks/results/coverage`).

    Args:
        y_true, decisions, cost_matrix, classes: as in `decision_costs`.
        confidence: confidence level, in (0, 1). Defaults to 0.95.
        largest: the largest amount that a decision can cost, or gain; larger amounts raise.

    Returns:
        `(low, high)`.

    References:
        - Gaffke: Three test statistics for a nonparametric one-sided hypothesis on
          the mean of a nonnegative variable, Mathematical Methods of Statistics 2005

    Example:

    >>> low, high = cost_interval([0, 1] * 50, [0, 1, 0, 0] * 25, [[0, 1], [9, 0]])
    >>> low < 2.25 < high
    True
    """
    y_true, known, chosen = as_numbers(y_true, cost_matrix, classes, decisions)
    paid = decision_costs(y_true, chosen, known)
    bounds = CostBounds(y_true, known, largest).of_costs(paid)
    return BoundedMean(paid, *bounds).interval(confidence)


@dataclasses.dataclass(frozen=True)
class CostDifference:
    """Average cost of one model's decisions minus that of another's, on the same examples.

    Args:
        difference: mean difference; negative if the first model's decisions cost less.
        low, high: ends of the 95 % interval of the expected difference.
        p_value: two-sided p-value of the hypothesis that the expected difference is 0;
            below .05 if and only if the interval does not contain 0.
        ratio: average cost of the first model divided by that of the second; NaN if
            the second is 0.

    Example:

    >>> CostDifference(-0.2, -0.3, -0.1, 0.01, 0.5).cheaper
    True
    """

    difference: float
    low: float
    high: float
    p_value: float
    ratio: float

    @property
    def cheaper(self) -> bool:
        """True if the whole interval is below 0."""
        return self.high < 0

    @property
    def costlier(self) -> bool:
        """True if the whole interval is above 0."""
        return self.low > 0


def compare_costs(
    y_true: ArrayLike,
    decisions: ArrayLike,
    other_decisions: ArrayLike,
    cost_matrix: CostsLike | None = None,
    largest: float | None = None,
    classes: Any = None,
) -> CostDifference:
    """Compares two models' decisions on the same test examples in pairs.

    Two models decide most examples alike, so the difference of their costs is known far more
    precisely than either cost. Interval and p-value are those of `cost_interval`, with differences
    bounded by the largest difference between two decisions. If all mistakes cost the same, this is
    McNemar's exact test. In simulations of models with equal expected cost, the p-value was below
    .05 in at most 5 % of the test sets of every case (`benchmarks/results/coverage`).

    Args:
        y_true, decisions, cost_matrix, classes: as in `decision_costs`.
        other_decisions: integers `(N,)`, of the second model.
        largest: as in `cost_interval`.

    Returns:
        A `CostDifference`, first minus second.

    Example:

    >>> labels, first, second = [0, 1] * 50, [0, 1] * 50, [0, 1, 0, 0] * 25
    >>> compare_costs(labels, first, second, [[0, 1], [9, 0]]).cheaper
    True
    """
    numbers = as_numbers(y_true, cost_matrix, classes, decisions, other_decisions)
    y_true, known, first, second = numbers
    own, other = (decision_costs(y_true, chosen, known) for chosen in (first, second))
    return paired_difference(own, other, CostBounds(y_true, known, largest))


def paired_difference(own: np.ndarray, other: np.ndarray, bounds: CostBounds) -> CostDifference:
    """Compares what the decisions of two models cost, each `(N,)`, on the same examples."""
    largest = bounds.of_differences(own - other)
    differences = BoundedMean(own - other, -largest, largest)
    low, high = differences.interval()
    base = float(other.mean())
    ratio = float(own.mean()) / base if base else float("nan")
    return CostDifference(float((own - other).mean()), low, high, differences.p_value(0.0), ratio)
