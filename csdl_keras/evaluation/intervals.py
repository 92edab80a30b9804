"""Computes confidence intervals of average costs and of differences between them."""

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy

from csdl_keras._utils.checks import check_number
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.known import AffineCosts, CostsLike, KnownCosts, vectors_of_labels
from csdl_keras.evaluation.as_numbers import as_numbers
from csdl_keras.evaluation.bounded_mean import BoundedMean
from csdl_keras.evaluation.scores import chosen_costs, example_costs


def cost_interval(
    y_true: ArrayLike,
    decisions: ArrayLike,
    cost_matrix: CostsLike | None = None,
    confidence: float = 0.95,
    largest: float | None = None,
    classes: Any = None,
) -> tuple[float, float]:
    """Computes a confidence interval of the average cost of decisions on new examples.

    A test set may not contain the costliest mistake. So Gaffke's interval also uses the largest
    possible cost: that of the matrix, or `largest`, or an estimate from the largest amounts seen,
    up to eight times the largest one. In simulations of every case, 95 % intervals contained the
    expected cost in at least 93 % of test sets (`benchmarks/results/coverage`).

    Args:
        y_true, decisions, cost_matrix, classes: as in `decision_costs`.
        confidence: confidence level, in (0, 1]. Defaults to 0.95.
        largest: largest amount a decision can cost or gain; larger ones raise. Defaults to `None`.

    Returns:
        `(low, high)`.

    Example:

    >>> low, high = cost_interval([0, 1] * 50, [0, 1, 0, 0] * 25, [[0, 1], [9, 0]])
    >>> low < 2.25 < high
    True
    """
    true, known, chosen = as_numbers(y_true, cost_matrix, classes, decisions=decisions)
    paid = chosen_costs(example_costs(true, known), chosen)
    bounds = CostBounds(true, known, largest).of_costs(paid)
    return BoundedMean(paid, *bounds).interval(confidence)


@dataclasses.dataclass(frozen=True)
class CostDifference:
    """Average cost of one model's decisions minus that of another's, on the same examples.

    Args:
        difference: mean difference; negative if the first model's decisions cost less.
        low, high: ends of the 95 % interval of the expected difference.
        p_value: two-sided p-value of the hypothesis that the expected difference is 0;
            below .05 if and only if the interval does not contain 0.
        ratio: average cost of the first model divided by that of the second; NaN if that is 0.
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

    Two models agree on most examples, so the difference of their costs is known far more
    precisely than either cost. The interval and test are Gaffke's, with differences bounded by the
    largest difference between two decisions; if all mistakes cost the same, this is McNemar's exact
    test. In simulations of models with equal expected cost, the p-value was below .05 in
    at most 5 % of the test sets of every case (`benchmarks/results/coverage`).

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
    both = {"decisions": decisions, "other_decisions": other_decisions}
    true, known, *chosen = as_numbers(y_true, cost_matrix, classes, **both)
    costs = example_costs(true, known)
    own, other = (chosen_costs(costs, one) for one in chosen)
    return paired_difference(own, other, CostBounds(true, known, largest))


def paired_difference(own: np.ndarray, other: np.ndarray, bounds: "CostBounds") -> CostDifference:
    """Compares the costs `(N,)` of two models' decisions on the same examples."""
    largest = bounds.of_differences(own - other)
    differences = BoundedMean(own - other, -largest, largest)
    low, high = differences.interval()
    base = float(other.mean())
    ratio = float(own.mean()) / base if base else float("nan")
    return CostDifference(float((own - other).mean()), low, high, differences.p_value(0.0), ratio)


class CostBounds:
    """The lowest and highest costs that decisions for new examples may have."""

    # Unlike a matrix, costs of each example have no known bounds. Decisions may thus cost the
    # largest amount seen, or the same share of even larger amounts as of the largest ones here.

    # The largest amount seen, and the share of the ten largest in the sum of all, if not `None`.
    largest_seen: float | None = None
    ten_largest: float | None = None

    def __init__(
        self,
        true: np.ndarray,
        known_costs: KnownCosts | None,
        largest: float | None,
        lowest: float = 0.0,
    ):
        costs, known = _of_classes(true, known_costs)
        # These are tails of gains, of costs, and of differences between two decisions.
        self._tails: tuple[list[_Tail], ...] = ([], [], [])
        seen, amounts = [], np.zeros(1)
        for rows in costs:
            rows = rows + lowest
            kinds = (-rows, rows, rows - rows.min(axis=1, keepdims=True))
            seen.append([kind.max() for kind in kinds])
            amounts = np.maximum(amounts, abs(rows).max(axis=1))
            if largest is None and not known:
                for tails, kind in zip(self._tails, kinds, strict=True):
                    tails += [_Tail(column) for column in kind.T if column.max() > 0]
        self._seen = np.max(seen, axis=0)
        if largest is not None:
            largest = check_number("largest", largest, 0)
            if amounts.max() > largest:
                raise ValueError(
                    f"An amount of {amounts.max():g} exceeds `largest`, {largest:g}. Pass the "
                    "largest amount that is possible, or None."
                )
            gain = largest if self._seen[0] > 0 else 0.0
            self._seen = np.array([gain, largest, gain + largest])
        elif not known:
            self.largest_seen = float(amounts.max())
            self.ten_largest = float(np.sort(amounts)[-10:].sum() / (amounts.sum() or 1.0))

    def of_costs(self, paid: np.ndarray) -> tuple[float, float]:
        """Returns the lowest and highest cost of decisions that cost `paid`, `(N,)`."""
        return -self._bound(0, -paid), self._bound(1, paid)

    def of_differences(self, differences: np.ndarray) -> float:
        """Returns the largest difference where those of the examples are `differences`."""
        return self._bound(2, abs(differences))

    def _bound(self, kind: int, values: np.ndarray) -> float:
        return max([float(self._seen[kind]), *(tail.reach(values) for tail in self._tails[kind])])


class _Tail:
    """The largest of the costs `(N,)` of one decision, and a bound on those of new examples.

    Beyond the largest of N values lies a share of about 1 / N, whose mean in a tail of index `xi`
    is the largest value divided by `1 - xi`. This is the bound, with the upper 95 % limit of Hill's
    estimate of `xi` from the `2 sqrt(N)` largest values, but at most eight times the largest one.
    """

    def __init__(self, costs: np.ndarray):
        root, ordered = len(costs) ** 0.5, np.sort(costs)[::-1]
        excess = ordered - ordered[-1]
        tail = excess[excess > 0][: 1 + round(2 * root)]
        index, count = 1.0, len(tail) - 1
        if count > 0:
            index = np.log(tail[:-1] / tail[-1]).sum() / scipy.special.gammaincinv(count, 0.05)
        self._bound = float(ordered[-1] + excess[0] / (1.0 - min(index, 7 / 8)))
        self._examples = np.flatnonzero((costs >= ordered[round(root) - 1]) & (costs > 0))
        self._costs = costs[self._examples]

    def reach(self, values: np.ndarray) -> float:
        """Returns the bound times the upper 95 % limit of the share of costs that is paid."""
        shares = np.clip(values[self._examples] / self._costs, 0.0, 1.0)
        paid = shares.sum()
        limit = scipy.special.betaincinv(paid + 1.0, max(len(shares) - paid, 1e-9), 0.95)
        return self._bound * float(limit)


def _of_classes(true: np.ndarray, costs: KnownCosts | None) -> tuple[Iterable[np.ndarray], bool]:
    """Returns costs `(N, D)` as if each class were the true one and False, or a matrix and True."""
    if costs is None:
        return [np.asarray(true, np.float64)], False
    if isinstance(costs, AffineCosts) and not costs.per_unit.any():
        costs = costs.fixed
    if len(costs.shape) == 2:
        return [np.asarray(costs, np.float64)], True
    ones = np.ones(len(costs), int)
    return (vectors_of_labels(y * ones, costs) for y in range(costs.shape[1])), False
