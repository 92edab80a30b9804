"""The difference in cost between two algorithms on the same data, with intervals."""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pandas

from csdl_keras.evaluation.bounded_mean import BoundedMean

#: A run of an algorithm: the seeds of its cost matrix and of its training.
Run: TypeAlias = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Difference:
    """The difference of two mean costs, and their ratio, with 95 % intervals."""

    mean: float
    low: float
    high: float
    ratio: float
    matrices: int
    seeds: int = 1
    ratio_low: float = math.nan
    ratio_high: float = math.nan


def paired_difference(
    costs: Mapping[Run, np.ndarray],
    others: Mapping[Run, np.ndarray],
    largest: Mapping[int, float],
) -> Difference | None:
    """Compares two algorithms over cost matrices, training seeds and test examples.

    The 95 % interval of the mean difference combines errors by Banerjee's rule (Sankhyā 1960):

    `mean ± sqrt((t s / sqrt(M))² + e²)`

    where `s` is the standard deviation of the `M` matrices' mean differences, `t` the quantile of
    Student's distribution with `M - 1` degrees of freedom, and `e` the margin over examples of
    their mean over matrices, see `csdl_keras.evaluation.intervals`. Several training seeds add a
    third error of the same form. Algorithms of equal cost were found to differ in at most 6 % of
    all simulated cases (`benchmarks/results/coverage`). The interval of the ratio is computed in
    the same way from logarithms, which weights matrices equally.
    Only common runs are used, see `_complete`; without any, the result is `None`.
    """
    runs = _complete(costs.keys() & others.keys())
    if not runs:
        return None
    own, other = (np.array([each[run] for run in runs]) for each in (costs, others))
    differences = own - other
    bound = float(np.mean([largest[matrix] for matrix, _ in runs]))
    ends = BoundedMean(differences.mean(axis=0), -bound, bound).interval()
    low, high = _over_runs(runs, differences.mean(axis=1), *ends)
    ratio = float(own.mean() / other.mean()) if other.any() else math.nan
    matrices, seeds = (len({*each}) for each in zip(*runs, strict=True))
    ratio_ends = _ratio_interval(runs, own, other)
    return Difference(float(differences.mean()), low, high, ratio, matrices, seeds, *ratio_ends)


def _ratio_interval(
    runs: Sequence[Run], costs: np.ndarray, others: np.ndarray
) -> tuple[float, float]:
    """Returns the interval of the geometric mean of ratios of mean costs; NaN if one is 0."""
    means, other_means = costs.mean(axis=1), others.mean(axis=1)
    if min(means.min(), other_means.min()) <= 0:
        return math.nan, math.nan
    logs = np.log(means / other_means)
    # These are the derivatives of the log ratio with respect to each example's costs.
    slopes = (costs / means[:, None] - others / other_means[:, None]).mean(axis=0)
    margin = 1.96 * slopes.std() / math.sqrt(len(slopes))
    low, high = _over_runs(runs, logs, logs.mean() - margin, logs.mean() + margin)
    return math.exp(low), math.exp(high)


def _over_runs(
    runs: Sequence[Run], values: np.ndarray, low: float, high: float
) -> tuple[float, float]:
    """Widens a 95 % interval by the errors over cost matrices and over training seeds."""
    from scipy.stats import t  # This import is slow.

    for groups in zip(*runs, strict=True):
        means = pandas.Series(values).groupby(list(groups)).mean()
        if len(means) > 1:  # The error of a single mean is unknown.
            spread, mean = t.ppf(0.975, len(means) - 1) * means.sem(), means.mean()
            low, high = mean - np.hypot(spread, mean - low), mean + np.hypot(spread, high - mean)
    return float(low), float(high)


def _complete(runs: Iterable[Run]) -> list[Run]:
    """Returns the runs of the largest set of matrices with the same training seeds."""
    # With different matrices, means over seeds could not be compared.
    matrices: dict[int, set[int]] = {}
    for matrix, seed in runs:
        matrices.setdefault(seed, set()).add(matrix)
    most = max(matrices.values(), key=len, default=set())
    return [
        (it, seed) for it in sorted(most) for seed in sorted(matrices) if most <= matrices[seed]
    ]
