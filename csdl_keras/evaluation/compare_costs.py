"""Whether one model's decisions cost less than another's, or only seem to."""

import dataclasses
from typing import Any

import numpy as np

from csdl_keras._optional import optional_module
from csdl_keras.evaluation.cost_interval import mean_interval
from csdl_keras.evaluation.scores import decision_costs


@dataclasses.dataclass(frozen=True)
class CostDifference:
    """The cost of one model's decisions less that of another's, on the same examples.

    Args:
        difference: mean of the differences.
        low: lower end of their bootstrap interval of 95 %.
        high: upper end.
        p_value: two-sided, of the hypothesis that signs of differences are random.
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
    y_true: Any,
    decisions: Any,
    other_decisions: Any,
    cost_matrix: Any = None,
    replicates: int = 2000,
    seed: int = 0,
) -> CostDifference:
    """Compares two models' decisions on the same test examples, paired.

    Both decide for the same examples, of which most are decided alike; their
    difference is far more exact than either cost. The interval draws examples
    with replacement; the p-value comes from flipping the signs of the
    examples' differences at random.

    Args:
        y_true: as in `decision_costs`.
        decisions: integers `(N,)`, of the first model.
        other_decisions: integers `(N,)`, of the second.
        cost_matrix: `(K, D)` or `None`.
        replicates: number of resamples, and of sign flips. Defaults to 2000.
        seed: seed of both. Defaults to 0.

    Returns:
        A `CostDifference`, first less second.

    Raises:
        ValueError: if an argument fails its check.
        ModuleNotFoundError: if SciPy is missing.

    References:
        - Efron, Tibshirani: An Introduction to the Bootstrap, chapters 13 and 15 (1993)

    Example:

    >>> labels, first, second = [0, 1] * 50, [0, 1] * 50, [0, 1, 0, 0] * 25
    >>> compare_costs(labels, first, second, [[0, 1], [9, 0]]).cheaper
    True
    """
    own = decision_costs(y_true, decisions, cost_matrix)
    other = decision_costs(y_true, other_decisions, cost_matrix)
    differences = own - other
    low, high = mean_interval(differences, 0.95, replicates, seed)
    # Examples that both decide alike do not change the statistic, but would take memory.
    unequal = differences[differences != 0]
    p_value = 1.0  # also of a single difference, whose two signs are equally likely
    if len(unequal) > 1:
        p_value = float(
            optional_module("scipy.stats", "compare")
            .permutation_test(
                (unequal,),
                np.sum,
                permutation_type="samples",
                n_resamples=replicates,
                batch=max(1, int(2e7) // len(unequal)),
                rng=np.random.default_rng([seed, 1]),
                vectorized=True,
            )
            .pvalue
        )
    base = float(other.mean())
    ratio = float(own.mean()) / base if base else float("nan")
    return CostDifference(float(differences.mean()), low, high, p_value, ratio)
