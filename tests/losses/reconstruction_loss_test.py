"""Tests of the losses of reconstructions."""

import keras
import numpy as np
import pytest

from csdl_keras.losses import ReconstructionLoss, SquaredErrorLoss, reconstruction
from tests.support.testing import TestCase, floatx


class TestReconstructionLoss(TestCase):
    @pytest.mark.parametrize(
        ("loss", "of_keras"),
        [
            (ReconstructionLoss(), keras.losses.BinaryCrossentropy()),
            (ReconstructionLoss(True), keras.losses.BinaryCrossentropy(from_logits=True)),
            (SquaredErrorLoss(), keras.losses.MeanSquaredError()),
        ],
    )
    def test_is_the_sum_where_keras_has_the_mean(self, loss, of_keras):
        inputs, outputs = np.random.default_rng(0).uniform(0.1, 0.9, size=(2, 5, 2, 3, 2))
        self.assertAllClose(loss(inputs, outputs), 12 * float(of_keras(inputs, outputs)))

    @pytest.mark.parametrize("size", [1e4, -1e4, 50.0, -50.0])
    def test_large_logits(self, size):
        x = np.array([[0.0], [0.3], [1.0]])
        expected = np.logaddexp(0.0, size) - x[:, 0] * size
        value = reconstruction(x, np.full((3, 1), size), from_logits=True)
        self.assertAllClose(value, expected, rtol=1e-6)

    @pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
    def test_probabilities_of_zero_and_one(self, dtype):
        inputs = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]])
        outputs = keras.ops.cast(np.array([[0.0, 1.0]] * 3), dtype)
        worst = -2 * np.log(keras.config.epsilon())
        # In float32, 1 - epsilon is off by a tenth of epsilon or so.
        values = ReconstructionLoss(reduction=None)(inputs, outputs)
        self.assertAllClose(values, [0.0, worst, worst / 2], rtol=0.02)

    def test_square_beyond_float16(self):
        with floatx("float16"):
            outputs = keras.ops.cast(np.full((2, 3), 1000.0), "float16")
            self.assertAllClose(SquaredErrorLoss()(np.zeros((2, 3)), outputs), 3e6)
