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


class TestCalibrationError:
    @pytest.mark.parametrize("num_bins", [1, 4, 15])
    def test_equals_the_loop(self, num_bins):
        top = loop(P.max(axis=1), P.argmax(axis=1) == LABELS, num_bins)
        np.testing.assert_allclose(calibration_error(LABELS, P, num_bins), top)
        classes = [loop(P[:, k], LABELS == k, num_bins) for k in range(4)]
        found = calibration_error(LABELS, P, num_bins, classwise=True)
        np.testing.assert_allclose(found, np.mean(classes))

    def test_extremes(self):
        certain = np.eye(3)
        assert calibration_error([0, 1, 2], certain) == 0.0
        assert calibration_error([1, 2, 0], certain) == 1.0
        assert reliability([0, 1, 2], certain, 5).count.tolist() == [0, 0, 0, 0, 3]
        assert reliability([0, 1, 2], certain, 5, 0).count.tolist() == [2, 0, 0, 0, 1]
        # A bin contains its right end.
        assert reliability([0], [[0.5, 0.5]], 2).count.tolist() == [1, 0]

    @pytest.mark.parametrize(
        "arguments, message",
        [
            ({"probabilities": P * 0.9}, "sum to 1; received row 0"),
            ({"probabilities": P[:-1]}, "`probabilities` with a row for each of 200 labels"),
            ({"probabilities": P[0]}, r"shape \(N, K\); received shape \(4,\)"),
            ({"probabilities": P[:, :1] + 1}, "to lie in .0, 1.; received"),
            ({"probabilities": P - 0.5}, "at least 0; received -"),
            ({"y_true": LABELS + 1}, "below 4"),
            ({"num_bins": 0}, "`num_bins`"),
            ({"num_bins": 1_000_001}, "`num_bins`"),
        ],
    )
    @pytest.mark.parametrize("classwise", [False, True])
    def test_refused(self, arguments, message, classwise):
        arguments = {"y_true": LABELS, "probabilities": P, **arguments}
        with pytest.raises(ValueError, match=f"^Expected .*{message}"):
            calibration_error(**arguments, classwise=classwise)

    def test_unknown_class(self):
        with pytest.raises(ValueError, match="received 4"):
            reliability(LABELS, P, class_id=4)
