"""Tests of calibration errors, against loops over bins."""

import numpy as np
import pytest

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


@pytest.mark.parametrize("num_bins", [1, 4, 15])
def test_error_equals_the_loop(num_bins):
    top = loop(P.max(axis=1), P.argmax(axis=1) == LABELS, num_bins)
    np.testing.assert_allclose(calibration_error(LABELS, P, num_bins), top)
    classes = [loop(P[:, k], LABELS == k, num_bins) for k in range(4)]
    found = calibration_error(LABELS, P, num_bins, classwise=True)
    np.testing.assert_allclose(found, np.mean(classes))


def test_intervals_are_those_of_wilson():
    bins = reliability(LABELS, P, 9, 2)
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
