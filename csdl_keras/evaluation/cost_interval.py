"""How exactly a test set tells the average cost."""

from typing import Any

import numpy as np

from csdl_keras._checks import check_integer, check_number
from csdl_keras._optional import optional_module
from csdl_keras.evaluation.scores import decision_costs


def cost_interval(
    y_true: Any,
    decisions: Any,
    cost_matrix: Any = None,
    confidence: float = 0.95,
    replicates: int = 2000,
    seed: int = 0,
) -> tuple[float, float]:
    """A bootstrap confidence interval of the average cost.

    Test examples are drawn anew with replacement, `replicates` times; the
    interval is that of the quantiles of their average costs. Costs are skewed
    (many zeros, few dear mistakes), so that an interval by a standard error
    would be too short above.

    Args:
        y_true: as in `decision_costs`.
        decisions: integers `(N,)`.
        cost_matrix: `(K, D)` or `None`.
        confidence: level, in (0, 1). Defaults to 0.95.
        replicates: number of resamples, from 2 to 1,000,000. Defaults to 2000.
        seed: seed of the resamples. Defaults to 0.

    Returns:
        `(low, high)`.

    Raises:
        ValueError: if an argument fails its check.
        ModuleNotFoundError: if SciPy is missing.

    Example:

    >>> low, high = cost_interval([0, 1] * 50, [0, 1, 0, 0] * 25, [[0, 1], [9, 0]])
    >>> low < 2.25 < high
    True
    """
    paid = decision_costs(y_true, decisions, cost_matrix)
    return mean_interval(paid, confidence, replicates, seed)


def mean_interval(
    values: np.ndarray, confidence: float = 0.95, replicates: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """The bootstrap interval of a mean; both ends are the mean where all values are equal."""
    check_number("confidence", confidence, 0, 1, exclude_low=True)
    if confidence == 1:
        raise ValueError("Expected `confidence` below 1; received 1.")
    check_integer("replicates", replicates, low=2, high=1_000_000)
    check_integer("seed", seed, low=0)
    if np.all(values == values[0]):
        return float(values[0]), float(values[0])
    found = optional_module("scipy.stats", "compare").bootstrap(
        (values,),
        np.mean,
        n_resamples=replicates,
        batch=max(1, int(2e7) // len(values)),  # 160 MB at a time
        confidence_level=confidence,
        method="percentile",
        rng=np.random.default_rng(seed),
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)
