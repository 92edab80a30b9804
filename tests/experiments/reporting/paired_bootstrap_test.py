import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csdl_keras.experiments.reporting.paired_bootstrap import PairedBootstrap


def costs_of(seed, matrices=3, examples=40):
    return np.random.default_rng(seed).uniform(0, 5, size=(matrices, examples))


def bootstrap_of(replicates=200, **costs):
    by_seed = {name: {1000 + m: c for m, c in enumerate(each)} for name, each in costs.items()}
    return PairedBootstrap(by_seed, replicates=replicates)


def loop_interval(a, b, replicates, seed):
    """The definition, example by example, with the same stream of random draws."""
    matrices, examples = a.shape
    draw_examples = np.random.default_rng([seed, 0])
    draw_matrices = np.random.default_rng([seed, 1])
    shares = [1 / matrices] * matrices
    counts = draw_matrices.multinomial(matrices, shares, size=replicates)
    means = []
    for replicate in range(replicates):
        chosen = draw_examples.integers(examples, size=examples)
        total = 0.0
        for m in range(matrices):
            for n in chosen:
                total += counts[replicate][m] * (a[m, n] - b[m, n])
        means.append(total / (matrices * examples))
    return np.quantile(means, [0.025, 0.975])


class TestPairedBootstrap:
    def test_equals_the_literal_loop(self):
        a, b = costs_of(0), costs_of(1)
        difference = bootstrap_of(a=a, b=b, replicates=250).compare("a", "b")
        low, high = loop_interval(a, b, 250, seed=0)
        assert difference.mean == pytest.approx(a.mean() - b.mean())
        assert difference.ratio == pytest.approx(a.mean() / b.mean())
        assert (difference.low, difference.high) == pytest.approx((low, high))

    def test_width_for_one_matrix_is_that_of_paired_examples(self):
        base = costs_of(0, matrices=1, examples=4000)
        other = base + np.random.default_rng(5).normal(0, 0.1, base.shape)
        difference = bootstrap_of(a=other, b=base, replicates=2000).compare("a", "b")
        error = (other - base).std() / np.sqrt(4000)
        assert difference.high - difference.low == pytest.approx(2 * 1.96 * error, rel=0.1)

    def test_matrices_are_resampled_too(self):
        offsets = np.array([[-3.0], [0.0], [4.0]])
        difference = bootstrap_of(a=costs_of(0) + 5 + offsets, b=costs_of(0) + 5).compare("a", "b")
        assert difference.low < -2 and difference.high > 3

    @settings(max_examples=25)
    @given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 60))
    def test_identical_decisions_are_tied(self, seed, matrices, examples):
        costs = costs_of(seed, matrices, examples)
        difference = bootstrap_of(a=costs, b=costs.copy()).compare("a", "b")
        assert difference.tied and not difference.cheaper and not difference.costlier
        assert (difference.mean, difference.low, difference.high) == (0, 0, 0)

    @settings(max_examples=25)
    @given(st.integers(0, 10**6), st.integers(1, 5), st.floats(0.01, 100))
    def test_always_costlier_is_costlier(self, seed, matrices, constant):
        costs = costs_of(seed, matrices)
        bootstrap = bootstrap_of(a=costs + constant, b=costs)
        difference = bootstrap.compare("a", "b")
        assert difference.costlier and not difference.tied
        assert difference.low == pytest.approx(constant) == difference.high
        assert bootstrap.compare("b", "a").cheaper

    @settings(max_examples=25)
    @given(st.integers(0, 10**6), st.integers(1, 5))
    def test_exchange_turns_the_sign(self, seed, matrices):
        bootstrap = bootstrap_of(a=costs_of(seed, matrices), b=costs_of(seed + 1, matrices))
        one, two = bootstrap.compare("a", "b"), bootstrap.compare("b", "a")
        assert (two.mean, two.low, two.high) == pytest.approx((-one.mean, -one.high, -one.low))
        assert one.low < one.mean < one.high

    def test_pairs_use_the_matrices_that_both_have(self):
        a, b = costs_of(0), costs_of(1)
        whole = PairedBootstrap({"a": {1: a[1], 2: a[2]}, "b": {0: b[0], 1: b[1]}}, 200)
        alone = PairedBootstrap({"a": {1: a[1]}, "b": {1: b[1]}}, 200)
        got, expected = whole.compare("a", "b"), alone.compare("a", "b")
        assert (got.mean, got.low, got.high) == pytest.approx(
            (expected.mean, expected.low, expected.high)
        )

    def test_nothing_in_common(self):
        bootstrap = PairedBootstrap({"a": {0: costs_of(0)[0]}, "b": {1: costs_of(1)[0]}})
        assert bootstrap.compare("a", "b") is None
        assert bootstrap.compare("a", "unknown") is None
        assert PairedBootstrap({}).compare("a", "b") is None

    def test_a_ratio_to_zero_is_undefined(self):
        difference = bootstrap_of(a=np.ones((1, 5)), b=np.zeros((1, 5))).compare("a", "b")
        assert np.isnan(difference.ratio)

    def test_costs_of_other_examples(self):
        with pytest.raises(ValueError, match="one length; received the shapes"):
            PairedBootstrap({"a": {0: np.ones(3)}, "b": {0: np.ones(4)}})
