"""Gaffke's interval of a mean: against its definition, known intervals, and itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from csdl_keras.evaluation import bounded_mean
from csdl_keras.evaluation.bounded_mean import BoundedMean


@st.composite
def samples(draw):
    """Values, many of them equal, and bounds that they may reach."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    low, high = draw(st.sampled_from([(0.0, 1.0), (-3.0, 3.0), (0.0, 50.0), (-1.0, 0.5)]))
    size, share = draw(st.sampled_from([1, 2, 40, 300])), draw(st.sampled_from([0, 0.9, 1]))
    values = np.where(rng.uniform(size=size) < share, low, rng.uniform(low, high, size))
    return values, low, high


class TestBoundedMean:
    @pytest.mark.parametrize(
        "size, ones, confidence",
        [(1, 0, 0.5), (1, 1, 0.95), (20, 3, 0.999), (20_000, 0, 0.95), (500, 7, 0.95)],
    )
    def test_zeros_and_ones_give_the_interval_of_clopper_and_pearson(self, size, ones, confidence):
        values = (np.arange(size) < ones).astype(float)
        found = BoundedMean(values, 0.0, 1.0).interval(confidence)
        exact = stats.binomtest(ones, size).proportion_ci(confidence, method="exact")
        np.testing.assert_allclose(found, (exact.low, exact.high), rtol=1e-5, atol=1e-9)

    @pytest.mark.parametrize("better, worse", [(0, 0), (1, 0), (6, 0), (30, 14)])
    def test_equal_differences_give_the_test_of_mcnemar(self, better, worse):
        values = np.repeat([-1.0, 1.0, 0.0], [better, worse, 1000])
        expected = stats.binomtest(better, better + worse).pvalue if better + worse else 1.0
        assert BoundedMean(values, -1.0, 1.0).p_value(0.0) == pytest.approx(expected)

    @pytest.mark.parametrize("size", [1, 3, 900])
    def test_equals_the_definition(self, size):
        rng = np.random.default_rng(size)
        values = np.where(rng.uniform(size=size) < 0.5, 0.0, rng.exponential(size=size))
        high = values.max() * 3 + 1.0
        weights = rng.exponential(size=(20_000, size + 1))
        weights /= weights.sum(axis=1, keepdims=True)
        means = weights @ np.append(values, high), weights @ np.append(values, 0.0)
        low, top = BoundedMean(values, 0.0, high).interval(0.8)
        assert np.mean(means[0] >= top) == pytest.approx(0.1, abs=0.01)
        assert np.mean(means[1] <= low) == pytest.approx(0.1, abs=0.01)
        middle = float(np.quantile(means[0], 0.7))
        twice = 2 * min(np.mean(means[0] >= middle), np.mean(means[1] <= middle))
        found = BoundedMean(values, 0.0, high).p_value(middle)
        assert found == pytest.approx(min(1.0, twice), abs=0.03)

    @pytest.mark.parametrize("name", ["exponential", "pareto", "uniform"])
    def test_merging_many_values_changes_nothing_that_is_seen(self, name, monkeypatch):
        arguments = {"pareto": [1.5], "uniform": [100, 101]}.get(name, [])
        values = getattr(np.random.default_rng(0), name)(*arguments, size=6000)
        merged = BoundedMean(values, 0.0, 2 * values.max())
        monkeypatch.setattr(bounded_mean, "_MOST_VALUES", 6000)
        exact = BoundedMean(values, 0.0, 2 * values.max())
        (low, high), expected = merged.interval(), exact.interval()
        assert len(merged._values) < 1000 < len(exact._values)
        np.testing.assert_allclose((low, high), expected, atol=1e-4 * (high - low))
        assert merged.p_value(low) == pytest.approx(exact.p_value(low), rel=1e-3)

    @settings(max_examples=30)
    @given(
        samples(),
        st.sampled_from([0.01, 0.5, 0.95, 0.9999]),
        st.floats(0, 1),
        st.sampled_from([1e-290, 1e-3, 7.0, 1e290]),
    )
    def test_interval_test_order_scale_and_sign(self, sample, confidence, share, factor):
        values, low, high = sample
        mean = BoundedMean(values, low, high)
        ends = np.array(mean.interval(confidence))
        assert low <= ends[0] <= values.mean() + 1e-12 and values.mean() - 1e-12 <= ends[1] <= high
        point = low + share * (high - low)
        if np.abs(point - ends).min() > 1e-9 * (high - low):
            assert (ends[0] < point < ends[1]) == (mean.p_value(point) > 1 - confidence)
        scaled = BoundedMean(values[::-1] * factor, low * factor, high * factor)
        turned = BoundedMean(-values, -high, -low)
        moved = BoundedMean(values + 2.0, low + 2.0, high + 2.0)
        for other, expected in (
            (scaled, ends * factor),
            (turned, -ends[::-1]),
            (moved, ends + 2.0),
        ):
            found = other.interval(confidence)
            atol = 1e-9 * np.abs(expected).max()
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=atol)
