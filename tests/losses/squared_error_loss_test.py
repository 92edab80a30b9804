"""Tests of the squared error of reconstructions."""

import keras
import numpy as np
import pytest

from csdl_keras.losses import SquaredErrorLoss
from tests.support.testing import TestCase, floatx

random = np.random.default_rng(0)


def example_loss(inputs, reconstructions):
    """(x - t)^2, summed over inputs."""
    total = 0.0
    for x, t in zip(inputs.ravel(), reconstructions.ravel(), strict=True):
        total += (x - t) ** 2
    return total


class TestSquaredErrorLoss(TestCase):
    def test_contract(self):
        inputs, outputs = random.normal(size=(2, 5, 2, 3, 2)).astype("float32")
        self.run_loss_test(SquaredErrorLoss, inputs, outputs, example_loss)

    def test_vectors_equal_the_loop(self):
        inputs, outputs = random.normal(size=(2, 5, 4)).astype("float32")
        expected = [example_loss(x, t) for x, t in zip(inputs, outputs, strict=True)]
        loss = SquaredErrorLoss(reduction=None)
        self.assertAllClose(loss(inputs, outputs), np.array(expected))

    def test_is_the_sum_where_keras_has_the_mean(self):
        inputs, outputs = random.normal(size=(2, 5, 2, 3, 2)).astype("float32")
        mean = keras.losses.MeanSquaredError()(inputs, outputs)
        self.assertAllClose(SquaredErrorLoss()(inputs, outputs), 12 * float(mean))

    def test_square_beyond_float16(self):
        with floatx("float16"):
            loss = SquaredErrorLoss()
            assert loss.dtype == "float32"
            outputs = keras.ops.cast(np.full((2, 3), 1000.0), "float16")
            self.assertAllClose(loss(np.zeros((2, 3)), outputs), 3e6)

    @pytest.mark.parametrize("shape", [(5, 3), (5, 4, 1), (5,)])
    def test_shapes_differ(self, shape):
        with pytest.raises(ValueError) as error:
            SquaredErrorLoss()(np.zeros((5, 4)), np.zeros(shape))
        assert f"received (5, 4) and {shape}" in str(error.value)

    def test_name(self):
        assert SquaredErrorLoss().name == "squared_error_loss"
        assert self.run_config_round_trip(SquaredErrorLoss(name="mine")).name == "mine"
