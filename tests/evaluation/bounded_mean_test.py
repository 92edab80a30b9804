"""Gaffke's interval of a mean: against its definition, known intervals, and itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from csdl_keras.evaluation.bounded_mean import BoundedMean


@st.composite
def samples(draw):
    """Values, many of them alike, and bounds that they may reach."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    low, high = draw(st.sampled_from([(0.0, 1.0), (-3.0, 3.0), (0.0, 50.0), (-1.0, 0.5)]))
    size = draw(st.sampled_from([1, 2, 5, 40, 300]))
    values = rng.uniform(low, high, size)
    return np.where(rng.uniform(size=size) < draw(st.sampled_from([0, 0.9, 1])), low, values), (
        low,
        high,
    )


class TestBoundedMean:
    @pytest.mark.parametrize(
        "size, ones", [(1, 0), (1, 1), (20, 0), (20, 3), (20_000, 0), (500, 7)]
    )
    @pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
    def test_of_ones_and_zeros_it_is_cloppers_and_pearsons(self, size, ones, confidence):
        values = (np.arange(size) < ones).astype(float)
        found = BoundedMean(values, 0.0, 1.0).interval(confidence)
        exact = stats.binomtest(ones, size).proportion_ci(confidence, method="exact")
        np.testing.assert_allclose(found, (exact.low, exact.high), rtol=1e-5, atol=1e-9)

    @pytest.mark.parametrize("better, worse", [(0, 0), (1, 0), (6, 0), (5, 1), (30, 14)])
    def test_of_equal_differences_it_is_mcnemars_test(self, better, worse):
        values = np.repeat([-1.0, 1.0, 0.0], [better, worse, 1000])
        expected = stats.binomtest(better, better + worse).pvalue if better + worse else 1.0
        assert BoundedMean(values, -1.0, 1.0).p_value(0.0) == pytest.approx(expected)

    @pytest.mark.parametrize("size", [1, 3, 60, 1500])
    def test_equals_the_definition(self, size):
        rng = np.random.default_rng(size)
        values = np.where(rng.uniform(size=size) < 0.5, 0.0, rng.exponential(size=size))
        high = values.max() * 3 + 1.0
        draws = 20_000
        weights = rng.exponential(size=(draws, size + 1))
        weights /= weights.sum(axis=1, keepdims=True)
        means = weights @ np.append(values, high), weights @ np.append(values, 0.0)
        low, top = BoundedMean(values, 0.0, high).interval(0.8)
        assert np.mean(means[0] >= top) == pytest.approx(0.1, abs=0.01)
        assert np.mean(means[1] <= low) == pytest.approx(0.1, abs=0.01)
        middle = float(np.quantile(means[0], 0.7))
        twice = 2 * min(np.mean(means[0] >= middle), np.mean(means[1] <= middle))
        found = BoundedMean(values, 0.0, high).p_value(middle)
        assert found == pytest.approx(min(1.0, twice), abs=0.03)

    @settings(max_examples=60, deadline=None)
    @given(samples(), st.sampled_from([0.01, 0.5, 0.95, 0.9999]), st.floats(0, 1))
    def test_interval_and_test_are_one(self, sample, confidence, share):
        values, (low, high) = sample
        mean = BoundedMean(values, low, high)
        ends = mean.interval(confidence)
        assert low <= ends[0] <= values.mean() + 1e-12 and values.mean() - 1e-12 <= ends[1] <= high
        point = low + share * (high - low)
        if min(abs(point - end) for end in ends) > 1e-9 * (high - low):
            inside = ends[0] < point < ends[1]
            assert inside == (mean.p_value(point) > 1 - confidence)

    @settings(max_examples=40, deadline=None)
    @given(samples(), st.sampled_from([1e-290, 1e-3, 7.0, 1e290]))
    def test_scale_order_and_sign(self, sample, factor):
        values, (low, high) = sample
        expected = np.array(BoundedMean(values, low, high).interval())
        scaled = BoundedMean(values[::-1] * factor, low * factor, high * factor).interval()
        np.testing.assert_allclose(np.array(scaled) / factor, expected, rtol=1e-9, atol=1e-9)
        turned = BoundedMean(-values, -high, -low).interval()
        np.testing.assert_allclose(turned, -expected[::-1], rtol=1e-9, atol=1e-9)
        moved = BoundedMean(values + 2.0, low + 2.0, high + 2.0).interval()
        np.testing.assert_allclose(moved, expected + 2.0, rtol=1e-9, atol=1e-9)

    def test_many_different_values(self):
        values = np.random.default_rng(0).exponential(size=20_000)
        found = BoundedMean(values, 0.0, 20.0).interval()
        error = 1.96 * values.std() / 20_000**0.5
        expected = values.mean() - error, values.mean() + error
        # Twenty parts of 20,001 at the bound move a mean by .001 at most.
        np.testing.assert_allclose(found, expected, atol=2e-3)

    def test_bounds_without_a_distance(self):
        mean = BoundedMean(np.full(3, 2.0), 2.0, 2.0)
        assert mean.interval() == (2.0, 2.0) and mean.p_value(2.0) == 1.0
        zero = BoundedMean(np.zeros(3), 0.0, 0.0)
        assert zero.interval() == (0.0, 0.0) and zero.p_value(0.0) == 1.0

    @pytest.mark.parametrize("confidence", [0, 1, 1.5, None, float("nan")])
    def test_refuses(self, confidence):
        with pytest.raises(ValueError, match="`confidence`"):
            BoundedMean(np.zeros(3), 0.0, 1.0).interval(confidence)
