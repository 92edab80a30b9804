import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from csdl_keras.evaluation import compare_costs
from csdl_keras.evaluation.bounded_mean import BoundedMean
from csdl_keras.experiments.reporting.comparison import PairedDifferences

LARGEST = 20.0


def costs_of(seed, matrices=3, examples=40):
    return np.random.default_rng(seed).uniform(0, 5, size=(matrices, examples))


def pairs_of(**costs):
    by_seed = {name: dict(enumerate(each)) for name, each in costs.items()}
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
    @pytest.mark.parametrize("matrices", [1, 2, 3, 10])
    def test_equals_the_literal_loop(self, matrices):
        a, b = costs_of(0, matrices), costs_of(1, matrices)
        found = pairs_of(a=a, b=b).compare("a", "b")
        assert found.mean == pytest.approx(a.mean() - b.mean())
        assert found.ratio == pytest.approx(a.mean() / b.mean())
        assert found.matrices == matrices
        assert (found.low, found.high) == pytest.approx(loop_interval(a, b))

    def test_a_single_matrix_is_compared_as_compare_costs_does(self):
        a, b = costs_of(0, 1), costs_of(1, 1)
        # Two more decisions, which nobody takes, set the largest difference.
        vectors = np.column_stack([a[0], b[0], np.zeros(40), np.full(40, LARGEST)])
        found = pairs_of(a=a, b=b).compare("a", "b")
        expected = compare_costs(vectors, np.zeros(40, int), np.ones(40, int))
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))

    @pytest.mark.parametrize("matrices", [2, 3, 5])
    def test_few_matrices_that_differ_make_no_difference_significant(self, matrices):
        """Of a true null, 5 % at most are called significant; the bootstrap did up to 32 %."""
        rng, found = np.random.default_rng(matrices), 0
        for _ in range(300):
            base = rng.uniform(5, 10, size=(matrices, 50))
            noise = rng.normal(0, 0.2, (matrices, 1)) + rng.normal(0, 0.4, (1, 50))
            difference = pairs_of(a=base + noise, b=base).compare("a", "b")
            found += not difference.tied
        # Of 300 at .05, 24 are exceeded in 1 of 100 cases.
        assert found <= 24

    def test_of_many_matrices_a_difference_is_found(self):
        rng = np.random.default_rng(0)
        base = costs_of(0, 10, 2000)
        other = base + 0.3 + rng.normal(0, 0.2, (10, 1)) + rng.normal(0, 0.4, (1, 2000))
        assert pairs_of(a=other, b=base).compare("a", "b").costlier

    @settings(max_examples=25, deadline=None)
    @given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 60))
    def test_identical_decisions_are_tied(self, seed, matrices, examples):
        costs = costs_of(seed, matrices, examples)
        difference = pairs_of(a=costs, b=costs.copy()).compare("a", "b")
        assert difference.tied and not difference.cheaper and not difference.costlier
        assert (difference.mean, difference.ratio) == (0, 1)
        assert difference.low == -difference.high

    @settings(max_examples=25, deadline=None)
    @given(st.integers(0, 10**6), st.integers(1, 5), st.floats(2, 10))
    def test_always_costlier_is_costlier(self, seed, matrices, constant):
        costs = costs_of(seed, matrices, 400)
        pairs = pairs_of(a=costs + constant, b=costs)
        difference = pairs.compare("a", "b")
        assert difference.costlier and not difference.tied
        assert difference.low <= difference.mean <= difference.high
        assert pairs.compare("b", "a").cheaper

    @settings(max_examples=25, deadline=None)
    @given(st.integers(0, 10**6), st.integers(1, 5))
    def test_exchange_turns_the_sign(self, seed, matrices):
        pairs = pairs_of(a=costs_of(seed, matrices), b=costs_of(seed + 1, matrices))
        one, two = pairs.compare("a", "b"), pairs.compare("b", "a")
        assert (two.mean, two.low, two.high) == pytest.approx((-one.mean, -one.high, -one.low))
        assert one.low < one.mean < one.high

    def test_pairs_use_the_matrices_that_both_have(self):
        a, b = costs_of(0), costs_of(1)
        largest = dict.fromkeys(range(3), LARGEST)
        whole = PairedDifferences({"a": {1: a[1], 2: a[2]}, "b": {0: b[0], 1: b[1]}}, largest)
        alone = PairedDifferences({"a": {1: a[1]}, "b": {1: b[1]}}, largest)
        assert whole.compare("a", "b") == alone.compare("a", "b")
        assert whole.compare("a", "b").matrices == 1

    def test_nothing_in_common(self):
        costs = costs_of(0)[0]
        pairs = PairedDifferences({"a": {0: costs}, "b": {1: costs}}, {0: LARGEST, 1: LARGEST})
        assert pairs.compare("a", "b") is None
        assert pairs.compare("a", "unknown") is None
        assert PairedDifferences({}, {}).compare("a", "b") is None

    def test_a_ratio_to_zero_is_undefined(self):
        difference = pairs_of(a=np.ones((1, 5)), b=np.zeros((1, 5))).compare("a", "b")
        assert np.isnan(difference.ratio)

    def test_costs_of_other_examples(self):
        with pytest.raises(ValueError, match="one length; received the shapes"):
            PairedDifferences({"a": {0: np.ones(3)}, "b": {0: np.ones(4)}}, {0: 1.0})
