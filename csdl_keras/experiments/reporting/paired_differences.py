"""Differences between algorithms, with intervals."""

from collections.abc import Mapping

import numpy as np

from csdl_keras._utils.optional import optional_module
from csdl_keras.evaluation.bounded_mean import BoundedMean
from csdl_keras.experiments.reporting.difference import Difference


class PairedDifferences:
    """Compares algorithms on one data set, over cost matrices and test examples.

    Cost matrices are few, test examples many and the same for all matrices, and the
    difference `d_mn` in cost would come out otherwise with other matrices and with other
    examples. The 95 % interval of its mean has both in it, by the rule of Banerjee:

    `mean ± sqrt((t s / sqrt(M))² + e²)`

    where `s` is the standard deviation of the `M` matrices' mean differences, `t` the
    quantile of Student's distribution with `M - 1` degrees of freedom, and `e` the distance
    to the end of the interval over examples of `1 / M sum_m d_mn`, see
    `csdl_keras.evaluation.intervals`. Whichever of the two errors is the larger one, it
    holds at least as often as it says (if the matrices' differences are about normal).
    Simulated rows that cost the same were called different in at most 6 % of all cases
    with 2 to 30 matrices (`benchmarks/results/coverage`). A single matrix tells nothing of
    others: its interval is that over examples alone.

    Args:
        costs: `{algorithm: {cost_seed: costs of the test decisions (N,)}}`. A
            pair is compared on the matrices that both have.
        largest: `{cost_seed: the largest cost of the matrix}`.

    Raises:
        ValueError: if costs are not vectors of the same length.

    References:
        - Banerjee, Approximate confidence interval for linear functions of means of k
          populations when the population variances are not equal, Sankhyā 1960

    Example:

    >>> costs = np.random.default_rng(0).uniform(size=(2, 500))
    >>> pairs = PairedDifferences(
    ...     {"a": dict(enumerate(costs)), "b": dict(enumerate(costs + 1))}, {0: 2.0, 1: 2.0}
    ... )
    >>> pairs.compare("b", "a").costlier
    True
    """

    def __init__(self, costs: Mapping[str, Mapping[int, np.ndarray]], largest: Mapping[int, float]):
        self.costs, self.largest = costs, largest
        shapes = {np.shape(vector) for each in costs.values() for vector in each.values()}
        if len(shapes) > 1 or any(len(shape) != 1 or not shape[0] for shape in shapes):
            raise ValueError(
                "Expected `costs` of the same test examples, vectors of one length; "
                f"received the shapes {sorted(shapes)}."
            )

    def compare(self, name: str, other: str) -> Difference | None:
        """Costs of `name` less those of `other`.

        Args:
            name: an algorithm.
            other: another one.

        Returns:
            A `Difference`, or `None` if they have no cost matrix in common.
        """
        own, others = self.costs.get(name, {}), self.costs.get(other, {})
        common = sorted(own.keys() & others.keys())
        if not common:
            return None
        differences = np.array([own[matrix] - others[matrix] for matrix in common])
        mean = float(differences.mean())
        bound = float(np.mean([self.largest[matrix] for matrix in common]))
        over_examples = BoundedMean(differences.mean(axis=0), -bound, bound).interval()
        low, high = over_matrices(differences.mean(axis=1), *over_examples)
        base = float(np.mean([others[matrix].mean() for matrix in common]))
        ratio = float(np.mean([own[matrix].mean() for matrix in common])) / base if base else np.nan
        return Difference(mean, low, high, ratio, len(common))


def over_matrices(means: np.ndarray, low: float, high: float) -> tuple[float, float]:
    """Widens the 95 % interval over examples by the error of few matrices, if it is known.

    Args:
        means: the mean difference of each matrix `(M,)`.
        low: lower end of the interval over examples of their mean.
        high: upper end.

    Returns:
        `(low, high)`; unchanged for a single matrix.
    """
    if len(means) < 2:
        return low, high
    quantile = optional_module("scipy.stats", "compare").t.ppf(0.975, len(means) - 1)
    spread, mean = quantile * means.std(ddof=1) / np.sqrt(len(means)), means.mean()
    return float(mean - np.hypot(spread, mean - low)), float(mean + np.hypot(spread, high - mean))
