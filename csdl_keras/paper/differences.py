"""Differences in cost between two algorithms on the same data, with intervals."""

import collections
import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from csdl_keras.evaluation.bounded_mean import BoundedMean


@dataclasses.dataclass(frozen=True)
class Difference:
    """Mean cost of one algorithm less that of another, on the same matrices and examples.

    `low` and `high` are the ends of its 95 % interval; that of a single matrix, or of a single
    training seed, says nothing of others. `ratio` is the cost of the first one divided by the
    other's, NaN if that is 0, and `ratio_low` and `ratio_high` the interval of the geometric mean
    of the ratios.

    >>> difference = Difference(-0.2, low=-0.3, high=-0.1, ratio=0.8, matrices=5)
    >>> difference.cheaper, difference.costlier, difference.tied
    (True, False, False)
    """

    mean: float
    low: float
    high: float
    ratio: float
    matrices: int
    seeds: int = 1
    ratio_low: float = math.nan
    ratio_high: float = math.nan

    @property
    def cheaper(self) -> bool:
        """True if the whole interval lies below 0."""
        return self.high < 0

    @property
    def costlier(self) -> bool:
        """True if the whole interval lies above 0."""
        return self.low > 0

    @property
    def tied(self) -> bool:
        """True if the interval contains 0."""
        return self.low <= 0 <= self.high

    def by_ratio(self) -> "Difference":
        """Returns the same with the interval of the logarithm of the ratio, where it is known."""
        if math.isnan(self.ratio_low):
            return self
        ends = math.log(self.ratio_low), math.log(self.ratio_high)
        return dataclasses.replace(self, low=ends[0], high=ends[1])


#: A run of an algorithm: the seeds of its cost matrix and of its training.
Run: TypeAlias = tuple[int, int]


class PairedDifferences:
    """Compares algorithms on one data set, over cost matrices, training seeds and test examples.

    There are few matrices and many examples, the same ones for each matrix. The 95 % interval of
    the mean difference combines the two errors by Banerjee's rule (Sankhyā 1960):

    `mean ± sqrt((t s / sqrt(M))² + e²)`

    where `s` is the standard deviation of the `M` matrices' mean differences, `t` the
    quantile of Student's distribution with `M - 1` degrees of freedom, and `e` the distance
    to the end of the interval over examples of their mean over matrices, see
    `csdl_keras.evaluation.intervals`. Several training seeds for each matrix add a third error of
    the same form. Simulated algorithms of equal cost were called different in at most 6 % of all
    cases with 2 to 30 matrices (`benchmarks/results/coverage`).

    The interval of the ratio of costs is made likewise of the logarithms of the ratios of each
    matrix and seed, which weighs matrices alike, also those whose costs are high.

    Args:
        costs: `{algorithm: {(cost_seed, seed): costs of the test decisions (N,)}}`. Two algorithms
            are compared on runs that both have, of the most matrices that share their training
            seeds: the means of seeds with different matrices would differ by the matrices.
        largest: `{cost_seed: the largest cost of the matrix}`.
    """

    def __init__(self, costs: Mapping[str, Mapping[Run, np.ndarray]], largest: Mapping[int, float]):
        self.costs, self.largest = costs, largest
        shapes = {np.shape(vector) for each in costs.values() for vector in each.values()}
        if len(shapes) > 1 or any(len(shape) != 1 or not shape[0] for shape in shapes):
            raise ValueError(
                "Expected `costs` of the same test examples, vectors of one length; "
                f"received the shapes {sorted(shapes)}."
            )

    def compare(self, name: str, other: str) -> Difference | None:
        """Returns the costs of `name` less those of `other`; `None` without a matrix in common."""
        own, others = self.costs.get(name, {}), self.costs.get(other, {})
        shared = own.keys() & others.keys()
        if not shared:
            return None
        common = _complete(shared)
        differences = np.array([own[run] - others[run] for run in common])
        mean = float(differences.mean())
        bound = float(np.mean([self.largest[matrix] for matrix, _ in common]))
        low, high = BoundedMean(differences.mean(axis=0), -bound, bound).interval()
        numbers = []
        for groups in zip(*common, strict=True):
            means = group_means(groups, differences.mean(axis=1))
            numbers.append(len(means))
            low, high = over_groups(means, low, high)
        base = float(np.mean([others[run].mean() for run in common]))
        ratio = float(np.mean([own[run].mean() for run in common])) / base if base else np.nan
        ends = _ratio_interval(
            common, [own[run] for run in common], [others[run] for run in common]
        )
        matrices, seeds = numbers
        return Difference(mean, low, high, ratio, matrices, seeds, *ends)


def _ratio_interval(
    runs: Sequence[Run], costs: Sequence[np.ndarray], others: Sequence[np.ndarray]
) -> tuple[float, float]:
    """Returns the 95 % interval of the geometric mean of ratios of mean costs; NaN if one is 0."""
    means, other_means = np.mean(costs, axis=1), np.mean(others, axis=1)
    if min(means.min(), other_means.min()) <= 0:
        return math.nan, math.nan
    logs = np.log(means / other_means)
    # The derivative of the logarithm of a ratio by the costs of each example.
    slopes = np.mean(costs / means[:, None] - others / other_means[:, None], axis=0)
    margin = 1.96 * slopes.std() / math.sqrt(len(slopes))
    low, high = logs.mean() - margin, logs.mean() + margin
    for groups in zip(*runs, strict=True):
        low, high = over_groups(group_means(groups, logs), low, high)
    return math.exp(low), math.exp(high)


def _complete(runs: Iterable[Run]) -> list[Run]:
    """Returns the runs of the most matrices that have the same training seeds."""
    seeds: dict[int, set[int]] = collections.defaultdict(set)
    for matrix, seed in runs:
        seeds[matrix].add(seed)
    blocks: list[list[Run]] = []
    for one in set().union(*seeds.values()):
        having = {matrix: own for matrix, own in seeds.items() if one in own}
        shared = set.intersection(*having.values())
        blocks.append([(matrix, seed) for matrix in having for seed in shared])
    # Of as many matrices, those with the most seeds.
    largest = max(blocks, key=lambda block: (len({matrix for matrix, _ in block}), len(block)))
    return sorted(largest)


def group_means(groups: Sequence[int], values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Returns the mean of the values of each group, in the order of the groups' names."""
    members = np.asarray(groups)
    return np.array([np.asarray(values)[members == one].mean() for one in np.unique(members)])


def over_groups(means: np.ndarray, low: float, high: float) -> tuple[float, float]:
    """Widens a 95 % interval by the error of few matrices or training seeds, of which `means` are.

    It is unchanged for a single one, whose error is unknown.
    """
    if len(means) < 2:
        return low, high
    from scipy.stats import t  # slow to import

    quantile = t.ppf(0.975, len(means) - 1)
    spread, mean = quantile * means.std(ddof=1) / np.sqrt(len(means)), means.mean()
    return float(mean - np.hypot(spread, mean - low)), float(mean + np.hypot(spread, high - mean))
