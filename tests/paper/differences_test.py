import math

import numpy as np
import pytest
from scipy import stats

from csdl_keras.evaluation import compare_costs
from csdl_keras.evaluation.bounded_mean import BoundedMean
from csdl_keras.paper.differences import PairedDifferences

LARGEST = 20.0


def costs_of(seed, matrices=3, examples=40):
    return np.random.default_rng(seed).uniform(0, 5, size=(matrices, examples))


def pairs_of(**costs):
    by_seed = {name: {(m, 0): row for m, row in enumerate(each)} for name, each in costs.items()}
    return PairedDifferences(by_seed, dict.fromkeys(range(100), LARGEST))


def loop_interval(a, b):
    """The formula, matrix by matrix and example by example."""
    matrices, examples = a.shape
    means = [sum(a[m][n] - b[m][n] for n in range(examples)) / examples for m in range(matrices)]
    averages = [sum(a[m][n] - b[m][n] for m in range(matrices)) / matrices for n in range(examples)]
    low, high = BoundedMean(np.array(averages), -LARGEST, LARGEST).interval()
    if matrices > 1:
        mean = sum(means) / matrices
        squares = sum((each - mean) ** 2 for each in means) / (matrices - 1) / matrices
        spread = stats.t.ppf(0.975, matrices - 1) * squares**0.5
        low = mean - (spread**2 + (mean - low) ** 2) ** 0.5
        high = mean + (spread**2 + (high - mean) ** 2) ** 0.5
    return low, high


class TestPairedDifferences:
    @pytest.mark.parametrize("matrices", [1, 2, 10])
    def test_equals_the_literal_loop(self, matrices):
        a, b = costs_of(0, matrices), costs_of(1, matrices)
        pairs = pairs_of(a=a, b=b)
        found, exchanged = pairs.compare("a", "b"), pairs.compare("b", "a")
        assert found.mean == pytest.approx(a.mean() - b.mean())
        assert found.ratio == pytest.approx(a.mean() / b.mean())
        assert found.matrices == matrices
        assert (found.low, found.high) == pytest.approx(loop_interval(a, b))
        assert (exchanged.low, exchanged.high) == pytest.approx((-found.high, -found.low))

    @pytest.mark.parametrize("matrices", [1, 3])
    def test_intervals_of_ratios_equal_the_literal_loop(self, matrices):
        a, b = costs_of(0, matrices), costs_of(1, matrices)
        examples = a.shape[1]
        logs = [math.log(a[m].mean() / b[m].mean()) for m in range(matrices)]
        slopes = [
            sum(a[m][n] / a[m].mean() - b[m][n] / b[m].mean() for m in range(matrices)) / matrices
            for n in range(examples)
        ]
        squares = (1.96 * np.std(slopes)) ** 2 / examples
        if matrices > 1:
            quantile = stats.t.ppf(0.975, matrices - 1)
            squares += (quantile * np.std(logs, ddof=1)) ** 2 / matrices
        found = pairs_of(a=a, b=b).compare("a", "b")
        ends = [math.exp(np.mean(logs) + sign * squares**0.5) for sign in (-1, 1)]
        assert (found.ratio_low, found.ratio_high) == pytest.approx(ends)
        by_ratio = found.by_ratio()
        assert (by_ratio.low, by_ratio.high) == pytest.approx(np.log(ends))
        free = pairs_of(a=a, b=0 * b).compare("a", "b")
        assert math.isnan(free.ratio_low) and free.by_ratio() == free

    def test_intervals_of_ratios_cover_the_true_ratio(self):
        """Matrices whose costs differ tenfold leave open what each of them says alike."""
        scale = np.array([1.0, 3.0, 10.0])[:, None]
        a, b = 0.5 * scale * costs_of(0, 3, 2000), scale * costs_of(1, 3, 2000)
        found = pairs_of(a=a, b=b).compare("a", "b")
        assert found.tied and found.by_ratio().cheaper
        assert found.ratio_low < 0.5 < found.ratio_high < 0.6

    def test_a_single_matrix_is_compared_as_compare_costs_does(self):
        a, b = costs_of(0, 1), costs_of(1, 1)
        # Two more decisions, which nobody takes, set the largest difference.
        vectors = np.column_stack([a[0], b[0], np.zeros(40), np.full(40, LARGEST)])
        found = pairs_of(a=a, b=b).compare("a", "b")
        expected = compare_costs(vectors, np.zeros(40, int), np.ones(40, int))
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))

    def test_of_many_matrices_a_difference_is_found(self):
        rng = np.random.default_rng(0)
        base = costs_of(0, 10, 2000)
        other = base + 0.3 + rng.normal(0, 0.2, (10, 1)) + rng.normal(0, 0.4, (1, 2000))
        pairs = pairs_of(a=other, b=base)
        difference = pairs.compare("a", "b")
        assert difference.costlier and not difference.tied and not difference.cheaper
        assert pairs.compare("b", "a").cheaper

    def test_identical_decisions_are_tied(self):
        costs = costs_of(0)
        difference = pairs_of(a=costs, b=costs.copy()).compare("a", "b")
        assert difference.tied and not difference.cheaper and not difference.costlier
        assert (difference.mean, difference.ratio) == (0, 1)
        assert difference.low == -difference.high

    def test_pairs_use_the_matrices_that_both_have(self):
        a, b = costs_of(0), costs_of(1)
        largest = dict.fromkeys(range(3), LARGEST)
        whole = PairedDifferences(
            {"a": {(1, 0): a[1], (2, 0): a[2]}, "b": {(0, 0): b[0], (1, 0): b[1]}}, largest
        )
        alone = PairedDifferences({"a": {(1, 0): a[1]}, "b": {(1, 0): b[1]}}, largest)
        assert whole.compare("a", "b") == alone.compare("a", "b")
        assert whole.compare("a", "b").matrices == 1
        apart = PairedDifferences({"a": {(0, 0): a[0]}, "b": {(1, 0): b[1]}}, largest)
        assert apart.compare("a", "b") is None and apart.compare("a", "unknown") is None

    def test_a_ratio_to_zero_is_undefined(self):
        difference = pairs_of(a=np.ones((1, 5)), b=np.zeros((1, 5))).compare("a", "b")
        assert np.isnan(difference.ratio)

    def test_training_seeds_add_their_error(self):
        """The formula with a third error, of runs named by matrix and seed."""
        rng = np.random.default_rng(0)
        a, b = rng.uniform(0, 5, size=(2, 3, 2, 40))  # matrices, seeds, examples
        a += rng.normal(0, 0.3, (1, 2, 1))
        runs = [(matrix, seed) for matrix in range(3) for seed in range(2)]
        costs = {"a": {run: a[run] for run in runs}, "b": {run: b[run] for run in runs}}
        found = PairedDifferences(costs, dict.fromkeys(range(3), LARGEST)).compare("a", "b")
        assert (found.matrices, found.seeds) == (3, 2)
        difference = a - b
        low, high = loop_interval(a.mean(axis=1), b.mean(axis=1))
        means = difference.mean(axis=(0, 2))
        spread = stats.t.ppf(0.975, 1) * means.std(ddof=1) / 2**0.5
        mean = difference.mean()
        expected = mean - np.hypot(spread, mean - low), mean + np.hypot(spread, high - mean)
        assert (found.low, found.high) == pytest.approx(expected)

    def test_incomplete_runs_are_compared_where_matrices_share_their_seeds(self):
        rng = np.random.default_rng(0)
        whole = {(matrix, seed): rng.uniform(0, 5, 40) for matrix in range(3) for seed in range(3)}
        part = {run: rng.uniform(0, 5, 40) for run in list(whole)[:5]}  # a matrix and two seeds
        largest = dict.fromkeys(range(3), LARGEST)
        found = PairedDifferences({"a": part, "b": whole}, largest).compare("a", "b")
        assert (found.matrices, found.seeds) == (2, 2)
        square = [(matrix, seed) for matrix in range(2) for seed in range(2)]
        expected = PairedDifferences(
            {
                name: {run: costs[run] for run in square}
                for name, costs in (("a", part), ("b", whole))
            },
            largest,
        ).compare("a", "b")
        assert found == expected
        # More matrices come first, since their error is the larger one.
        for more in ([(2, 0)], [(2, 1), (2, 2)]):
            longer = {**part, **{run: whole[run] for run in more}}
            again = PairedDifferences({"a": longer, "b": whole}, largest).compare("a", "b")
            assert (again.matrices, again.seeds) == (3, 1)

    def test_costs_of_other_examples(self):
        with pytest.raises(ValueError, match="one length; received the shapes"):
            PairedDifferences({"a": {(0, 0): np.ones(3)}, "b": {(0, 0): np.ones(4)}}, {0: 1.0})
