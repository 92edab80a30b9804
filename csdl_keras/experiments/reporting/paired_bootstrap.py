"""Differences between algorithms, with intervals."""

from collections.abc import Mapping

import numpy as np

from csdl_keras._checks import check_integer
from csdl_keras.experiments.reporting.difference import Difference

REPLICATES = 2000

# Replicates at a time: their weights of 50,000 examples take 40 MB.
_CHUNK = 100


class PairedBootstrap:
    """Compares algorithms on one data set by a paired bootstrap.

    Each replicate draws test examples with replacement, the same for all
    algorithms, and cost matrices with replacement, the same for both algorithms
    of a pair, and averages the difference of their costs over both:

    `d = 1 / (M N) sum_m u_m sum_n v_n (a_mn - b_mn)`

    with `u` and `v` how often matrix `m` and example `n` were drawn. The 95 %
    interval is that of the quantiles .025 and .975 of `d`.

    Args:
        costs: `{algorithm: {cost_seed: costs of the test decisions (N,)}}`. A
            pair is compared on the matrices that both have.
        replicates: number of resamples. Defaults to 2000.
        seed: seed of the resamples. Defaults to 0.

    Raises:
        ValueError: if costs are not vectors of the same length.

    References:
        - Efron, Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13

    Example:

    >>> costs = np.random.default_rng(0).uniform(size=(2, 500))
    >>> bootstrap = PairedBootstrap({"a": dict(enumerate(costs)), "b": dict(enumerate(costs + 1))})
    >>> bootstrap.compare("b", "a").costlier
    True
    """

    def __init__(
        self,
        costs: Mapping[str, Mapping[int, np.ndarray]],
        replicates: int = REPLICATES,
        seed: int = 0,
    ):
        self.costs = costs
        self.replicates = check_integer("replicates", replicates)
        self.seed = check_integer("seed", seed, low=0)
        keys = [(name, matrix) for name in costs for matrix in costs[name]]
        shapes = {np.shape(costs[name][matrix]) for name, matrix in keys}
        if len(shapes) > 1 or any(len(shape) != 1 or not shape[0] for shape in shapes):
            raise ValueError(
                "Expected `costs` of the same test examples, vectors of one length; "
                f"received the shapes {sorted(shapes)}."
            )
        # A resample's mean cost is linear in the costs, so that one pass over the resamples
        # serves all pairs.
        stacked = np.array([costs[name][matrix] for name, matrix in keys], dtype="float64")
        self._means = dict(zip(keys, self._resampled_means(stacked), strict=True))

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
        mean = float(np.mean([own[matrix].mean() for matrix in common]))
        base = float(np.mean([others[matrix].mean() for matrix in common]))
        if all(np.array_equal(own[matrix], others[matrix]) for matrix in common):
            # Sums of the same costs may differ in the last bit, which must not decide.
            return Difference(0.0, 0.0, 0.0, 1.0 if base else np.nan)
        differences = np.array(
            [self._means[name, matrix] - self._means[other, matrix] for matrix in common]
        )
        resampled = np.einsum("rm,mr->r", self._matrix_weights(len(common)), differences)
        low, high = np.quantile(resampled, [0.025, 0.975])
        ratio = mean / base if base else np.nan
        return Difference(mean - base, float(low), float(high), ratio)

    def _matrix_weights(self, matrices: int) -> np.ndarray:
        """Weights of cost matrices in each replicate, `(replicates, matrices)`."""
        generator = np.random.default_rng([self.seed, 1])
        shares = np.full(matrices, 1 / matrices)
        return generator.multinomial(matrices, shares, size=self.replicates) / matrices

    def _resampled_means(self, costs: np.ndarray) -> np.ndarray:
        """Means of `(rows, N)` over each replicate's examples, `(rows, replicates)`."""
        if not costs.size:
            return np.zeros((len(costs), self.replicates))
        size = costs.shape[1]
        generator = np.random.default_rng([self.seed, 0])
        means = []
        for start in range(0, self.replicates, _CHUNK):
            # Counting draws is many times faster than drawing counts.
            counts = [
                np.bincount(generator.integers(size, size=size), minlength=size)
                for _ in range(min(_CHUNK, self.replicates - start))
            ]
            means.append(costs @ np.array(counts, dtype="float64").T / size)
        return np.concatenate(means, axis=1)
