"""Tests of calibration errors, against loops over bins."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from csdl_keras.evaluation import calibration_error, reliability

RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.ones(4), 200)
LABELS = RNG.integers(4, size=200)


def loop(said, came, num_bins):
    total = 0.0
    for b in range(num_bins):
        low, high = b / num_bins, (b + 1) / num_bins
        inside = (said <= high) & ((said > low) | (b == 0))
        if inside.any():
            total += inside.mean() * abs(said[inside].mean() - came[inside].mean())
    return total


class TestCalibrationError:
    @pytest.mark.parametrize("num_bins", [1, 4, 15])
    def test_equals_the_loop(self, num_bins):
        top = loop(P.max(axis=1), P.argmax(axis=1) == LABELS, num_bins)
        np.testing.assert_allclose(calibration_error(LABELS, P, num_bins), top)
        classes = [loop(P[:, k], LABELS == k, num_bins) for k in range(4)]
        found = calibration_error(LABELS, P, num_bins, classwise=True)
        np.testing.assert_allclose(found, np.mean(classes))


def bins_of_equal_mass(said, num_bins):
    """Groups of examples, one for each bin."""
    order = sorted(range(len(said)), key=lambda n: said[n])
    bins = min(num_bins, len(said))
    found, current, target = [], [], 1
    for place, n in enumerate(order, start=1):
        current.append(n)
        tied = place < len(order) and said[order[place]] == said[n]
        if tied or place < target * len(order) / bins:
            continue
        # Ties may have gone past several ends.
        target = place * bins // len(order) + 1
        if len(current) >= len(order) / bins / 2:
            found.append(current)
            current = []
    if current:
        found[-1] += current
    return found


class TestBinsOfEqualMass:
    @hypothesis.settings(max_examples=100)
    @hypothesis.given(
        st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 0.875, 1.0]), max_size=40),
        st.lists(st.floats(0.0, 1.0), max_size=40),
        st.integers(1, 12),
        st.integers(0, 99),
    )
    def test_against_a_literal_loop(self, tied, others, num_bins, seed):
        said = np.array([*tied, *others, 0.3])
        rng = np.random.default_rng(seed)
        rng.shuffle(said)
        labels = rng.integers(2, size=len(said))
        bins = reliability(labels, said[:, None], num_bins, 1, strategy="quantile")
        expected = bins_of_equal_mass(said, num_bins)
        assert bins.count.tolist() == [len(group) for group in expected]
        np.testing.assert_allclose(bins.confidence, [said[group].mean() for group in expected])
        np.testing.assert_allclose(bins.frequency, [labels[group].mean() for group in expected])

    def test_error(self):
        said = P.max(axis=1)
        came = P.argmax(axis=1) == LABELS
        groups = bins_of_equal_mass(said, 7)
        gaps = [len(g) * abs(said[g].mean() - came[g].mean()) for g in groups]
        found = calibration_error(LABELS, P, 7, strategy="quantile")
        assert found == pytest.approx(sum(gaps) / 200)


class TestIntervals:
    @pytest.mark.parametrize("strategy", ["uniform", "quantile"])
    def test_wilson(self, strategy):
        bins = reliability(LABELS, P, 9, 2, strategy)
        low, high = bins.intervals()
        z = 1.959963984540054
        for b, n in enumerate(bins.count):
            if n == 0:
                assert np.isnan([low[b], high[b]]).all()
                continue
            p = bins.frequency[b]
            centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
            half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
            np.testing.assert_allclose([low[b], high[b]], [centre - half, centre + half], atol=1e-9)
