"""Tests of calibration errors, against loops over bins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from csdl_keras.evaluation import calibration_error, reliability

RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.ones(4), 200)
LABELS = RNG.integers(4, size=200)


def loop(said, came, num_bins):
    total = 0.0
    for b in range(num_bins):
        low, high = b / num_bins, (b + 1) / num_bins
        inside = [i for i, p in enumerate(said) if low < p <= high or (b == 0 and p == 0)]
        if inside:
            gap = np.mean([said[i] for i in inside]) - np.mean([came[i] for i in inside])
            total += len(inside) / len(said) * abs(gap)
    return total


class TestCalibrationError:
    @pytest.mark.parametrize("num_bins", [1, 4, 15])
    def test_equals_the_loop(self, num_bins):
        top = loop(P.max(axis=1), P.argmax(axis=1) == LABELS, num_bins)
        np.testing.assert_allclose(calibration_error(LABELS, P, num_bins), top)
        classes = [loop(P[:, k], LABELS == k, num_bins) for k in range(4)]
        found = calibration_error(LABELS, P, num_bins, classwise=True)
        np.testing.assert_allclose(found, np.mean(classes))

    def test_one_column(self):
        p = P[:, :1]
        both = np.hstack([1 - p, p])
        for classwise in (False, True):
            one, two = (calibration_error(LABELS % 2, q, classwise=classwise) for q in (p, both))
            np.testing.assert_allclose(one, two)

    def test_labels_drawn_from_the_probabilities_have_a_small_error(self):
        rng = np.random.default_rng(1)
        p = rng.dirichlet(np.ones(3), 20_000)
        labels = (rng.uniform(size=(20_000, 1)) > p.cumsum(axis=1)).sum(axis=1)
        sharp = p**3 / (p**3).sum(axis=1, keepdims=True)
        assert calibration_error(labels, p) < 0.02 < 0.1 < calibration_error(labels, sharp)
        assert calibration_error(labels, p, classwise=True) < 0.02
        assert calibration_error(labels, sharp, classwise=True) > 0.04

    @given(seed=st.integers(0, 99), num_bins=st.integers(1, 30))
    def test_bounds_and_order_of_examples(self, seed, num_bins):
        rng = np.random.default_rng(seed)
        p, labels = rng.dirichlet(np.full(3, 0.3), 20), rng.integers(3, size=20)
        error, order = calibration_error(labels, p, num_bins), rng.permutation(20)
        assert 0.0 <= error <= 1.0
        np.testing.assert_allclose(calibration_error(labels[order], p[order], num_bins), error)
        assert reliability(labels, p, num_bins).count.sum() == 20

    def test_extremes(self):
        certain = np.eye(3)[[0, 1, 2]]
        assert calibration_error([0, 1, 2], certain) == 0.0
        assert calibration_error([1, 2, 0], certain) == 1.0
        assert reliability([0, 1, 2], certain, 5).count.tolist() == [0, 0, 0, 0, 3]

    @pytest.mark.parametrize(
        "arguments",
        [
            {"probabilities": P * 0.9},
            {"probabilities": P[:-1]},
            {"probabilities": P[0]},
            {"y_true": LABELS + 1},
            {"num_bins": 0},
            {"probabilities": [[1.5, -0.5]], "y_true": [0]},
        ],
    )
    @pytest.mark.parametrize("classwise", [False, True])
    def test_what_it_refuses(self, arguments, classwise):
        with pytest.raises(ValueError, match="received"):
            calibration_error(
                **{"y_true": LABELS, "probabilities": P, **arguments}, classwise=classwise
            )

    def test_unknown_class(self):
        with pytest.raises(ValueError, match="received 4"):
            reliability(LABELS, P, class_id=4)
