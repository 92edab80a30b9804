"""How exactly a test set tells the average cost."""

import dataclasses
from typing import Any

import numpy as np

from csdl_keras.evaluation.bounded_mean import BoundedMean
from csdl_keras.evaluation.scores import decision_costs, possible_costs


def cost_interval(
    y_true: Any, decisions: Any, cost_matrix: Any = None, confidence: float = 0.95
) -> tuple[float, float]:
    """A confidence interval of the cost that the decisions of new examples have on average.

    Costs of decisions are mostly 0 and sometimes high, and the highest may not be
    among those of a test set. Gaffke's interval takes that into account: beside the
    costs that were paid it uses the largest cost that a decision can have, that of
    the matrix, or of all cost vectors. If no decision of 1,000 was wrong, the upper
    end is .0037 of the largest cost. Simulated with rare and with frequent mistakes and 20
    to 20,000 examples, 95 % intervals held the expected cost in at least 93 % of test
    sets, in each case (`benchmarks/results/coverage`). Costs of each example that differ a
    hundredfold make them wide.

    Args:
        y_true: as in `decision_costs`.
        decisions: integers `(N,)`.
        cost_matrix: `(K, D)` or `None`.
        confidence: level, in (0, 1). Defaults to 0.95.

    Returns:
        `(low, high)`.

    Raises:
        ValueError: if an argument fails its check.
        ModuleNotFoundError: if SciPy is missing.

    References:
        - Gaffke: Three test statistics for a nonparametric one-sided hypothesis on
          the mean of a nonnegative variable, Mathematical Methods of Statistics 2005

    Example:

    >>> low, high = cost_interval([0, 1] * 50, [0, 1, 0, 0] * 25, [[0, 1], [9, 0]])
    >>> low < 2.25 < high
    True
    """
    paid = decision_costs(y_true, decisions, cost_matrix)
    possible = possible_costs(y_true, cost_matrix)
    return BoundedMean(paid, possible.min(), possible.max()).interval(confidence)


@dataclasses.dataclass(frozen=True)
class CostDifference:
    """The cost of one model's decisions less that of another's, on the same examples.

    Args:
        difference: mean of the differences.
        low: lower end of the 95 % interval of the expected difference.
        high: upper end.
        p_value: two-sided, of the hypothesis that 0 is expected; below .05 if and only
            if the interval does not hold 0.
        ratio: the first average cost over the second; NaN where that is 0.

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
        """Whether the whole interval is below 0."""
        return self.high < 0

    @property
    def costlier(self) -> bool:
        """Whether the whole interval is above 0."""
        return self.low > 0


def compare_costs(
    y_true: Any, decisions: Any, other_decisions: Any, cost_matrix: Any = None
) -> CostDifference:
    """Compares two models' decisions on the same test examples, paired.

    Both decide for the same examples, of which most are decided alike; their
    difference is far more exact than either cost. Interval and p-value are those of
    one method (see `cost_interval`), with differences bounded by the largest one
    between two decisions of a row of the matrix, or of a cost vector. Where all
    mistakes cost the same it is McNemar's exact test. Where they do not, ten cheap
    mistakes less are no proof as long as one mistake of that largest difference
    could make up for them. Simulated models that cost the same had a p-value below .05 in
    at most 5 % of test sets, in each case (`benchmarks/results/coverage`).

    Args:
        y_true: as in `decision_costs`.
        decisions: integers `(N,)`, of the first model.
        other_decisions: integers `(N,)`, of the second.
        cost_matrix: `(K, D)` or `None`.

    Returns:
        A `CostDifference`, first less second.

    Raises:
        ValueError: if an argument fails its check.
        ModuleNotFoundError: if SciPy is missing.

    Example:

    >>> labels, first, second = [0, 1] * 50, [0, 1] * 50, [0, 1, 0, 0] * 25
    >>> compare_costs(labels, first, second, [[0, 1], [9, 0]]).cheaper
    True
    """
    own = decision_costs(y_true, decisions, cost_matrix)
    other = decision_costs(y_true, other_decisions, cost_matrix)
    largest = float(np.ptp(possible_costs(y_true, cost_matrix), axis=1).max())
    differences = BoundedMean(own - other, -largest, largest)
    low, high = differences.interval()
    base = float(other.mean())
    ratio = float(own.mean()) / base if base else float("nan")
    return CostDifference(float((own - other).mean()), low, high, differences.p_value(0.0), ratio)
