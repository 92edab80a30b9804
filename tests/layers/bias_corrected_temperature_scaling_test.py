"""Tests of temperature scaling with a bias for each class."""

import numpy as np
import pytest

from csdl_keras.layers import BiasCorrectedTemperatureScaling, TemperatureScaling
from tests.support.testing import TestCase

P = np.random.default_rng(0).dirichlet(np.ones(4), 5).astype("float32")
BIAS = [0.5, 0.0, -1.0, 2.0]


def loop(rows, temperature, bias):
    scaled = [
        [p ** (1 / temperature) * np.exp(b) for p, b in zip(row, bias, strict=True)]
        for row in rows.astype("float64")
    ]
    return np.array([[value / sum(row) for value in row] for row in scaled])


class TestBiasCorrectedTemperatureScaling(TestCase):
    @pytest.mark.parametrize("temperature", [0.25, 1.0, 3.0])
    def test_contract(self, temperature):
        outputs = self.run_layer_test(
            lambda: BiasCorrectedTemperatureScaling(temperature, BIAS), P, (5, 4)
        )
        self.assertAllClose(outputs, loop(P, temperature, BIAS))

    def test_without_bias_it_is_temperature_scaling(self):
        layer = self.run_config_round_trip(BiasCorrectedTemperatureScaling(2.0))
        self.assertAllClose(layer(P), TemperatureScaling(2.0)(P))

    def test_its_weights_are_not_trained(self):
        layer = BiasCorrectedTemperatureScaling(2.0, BIAS)
        layer.build((None, 4))
        assert not layer.trainable_weights
        assert [tuple(w.shape) for w in layer.non_trainable_weights] == [(), (4,)]

    def test_as_many_biases_as_classes(self):
        with pytest.raises(ValueError, match="`bias` with an entry for each of 4 classes"):
            BiasCorrectedTemperatureScaling(1.0, BIAS[:3])(P)

    @pytest.mark.parametrize("bias", ["1", [[1.0]], [np.nan, 0.0], 1.0])
    def test_wrong_bias(self, bias):
        with pytest.raises(ValueError, match="`bias`"):
            BiasCorrectedTemperatureScaling(1.0, bias)
