"""Tests of the cross-entropy of reconstructions."""

import keras
import numpy as np
import pytest

from csdl_keras.losses import ReconstructionLoss, reconstruction
from tests.support.testing import TestCase, floatx

random = np.random.default_rng(0)
VECTORS = (5, 4)
IMAGES = (5, 2, 3, 2)


def example_loss(inputs, reconstructions):
    """-(x ln t + (1 - x) ln(1 - t)), summed over inputs."""
    total = 0.0
    for x, t in zip(inputs.ravel(), reconstructions.ravel(), strict=True):
        total -= x * np.log(t) + (1.0 - x) * np.log(1.0 - t)
    return total


def example_loss_from_logits(inputs, logits):
    return example_loss(inputs, 1.0 / (1.0 + np.exp(-logits)))


def pair(shape, from_logits=False):
    """Inputs with exact zeros and ones among them, and outputs."""
    inputs = random.uniform(size=shape).astype("float32")
    inputs[0], inputs[1] = 0.0, 1.0
    if from_logits:
        return inputs, random.normal(scale=3, size=shape).astype("float32")
    return inputs, random.uniform(0.1, 0.9, size=shape).astype("float32")


class TestReconstructionLoss(TestCase):
    def test_contract_on_probabilities(self):
        self.run_loss_test(ReconstructionLoss, *pair(VECTORS), example_loss, activation="sigmoid")

    def test_contract_on_logits(self):
        self.run_loss_test(
            lambda **kwargs: ReconstructionLoss(from_logits=True, **kwargs),
            *pair(IMAGES, from_logits=True),
            example_loss_from_logits,
        )

    @pytest.mark.parametrize("from_logits", [False, True])
    @pytest.mark.parametrize("shape", [VECTORS, IMAGES])
    def test_is_the_sum_where_keras_has_the_mean(self, shape, from_logits):
        inputs, outputs = pair(shape, from_logits)
        mean = keras.losses.BinaryCrossentropy(from_logits=from_logits)(inputs, outputs)
        loss = ReconstructionLoss(from_logits=from_logits)
        self.assertAllClose(loss(inputs, outputs), np.prod(shape[1:]) * float(mean))

    @pytest.mark.parametrize("size", [1e4, -1e4, 50.0, -50.0])
    @pytest.mark.parametrize("x", [0.0, 0.3, 1.0])
    def test_large_logits(self, x, size):
        expected = np.logaddexp(0.0, size) - x * size
        value = reconstruction(np.array([[x]]), np.array([[size]]), from_logits=True)
        self.assertAllClose(value, [expected], rtol=1e-6)
        loss = ReconstructionLoss(from_logits=True)
        self.assertAllClose(loss(np.array([[x]]), np.array([[size]])), expected, rtol=1e-6)

    @pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
    def test_probabilities_of_zero_and_one(self, dtype):
        inputs = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]])
        outputs = keras.ops.cast(np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]), dtype)
        values = ReconstructionLoss(reduction=None)(inputs, outputs)
        worst = -2 * np.log(keras.config.epsilon())
        # In float32, 1 - epsilon is off by a tenth of epsilon or so.
        self.assertAllClose(values, [0.0, worst, worst / 2], rtol=0.02)

    @pytest.mark.parametrize("from_logits", [False, True])
    def test_float16_floatx(self, from_logits):
        inputs, outputs = pair((3, 200), from_logits)
        loss = ReconstructionLoss(from_logits=from_logits)
        expected = loss(inputs, outputs)
        with floatx("float16"):
            loss = ReconstructionLoss(from_logits=from_logits)
            assert loss.dtype == "float32"
            self.assertAllClose(loss(inputs, outputs), expected)

    @pytest.mark.parametrize("shape", [(5, 3), (5, 4, 1), (5,)])
    def test_shapes_differ(self, shape):
        with pytest.raises(ValueError) as error:
            ReconstructionLoss()(np.zeros(VECTORS), np.zeros(shape))
        assert f"received {VECTORS} and {shape}" in str(error.value)

    @pytest.mark.parametrize("wrong", [1, None, "yes"])
    def test_wrong_from_logits(self, wrong):
        with pytest.raises(ValueError, match="`from_logits` to be a bool; received"):
            ReconstructionLoss(from_logits=wrong)

    def test_name(self):
        assert ReconstructionLoss().name == "reconstruction_loss"
        assert self.run_config_round_trip(ReconstructionLoss(name="mine")).name == "mine"
