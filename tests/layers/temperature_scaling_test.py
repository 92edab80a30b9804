"""Tests of the layer that softens or sharpens probabilities."""

import keras
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from csdl_keras.layers import TemperatureScaling
from tests.support.testing import TestCase, to_numpy

P = np.random.default_rng(0).dirichlet(np.ones(4), 5).astype("float32")


def loop(rows, temperature):
    scaled = [[p ** (1 / temperature) for p in row] for row in rows.astype("float64")]
    return np.array([[value / sum(row) for value in row] for row in scaled])


class TestTemperatureScaling(TestCase):
    @pytest.mark.parametrize("temperature", [0.25, 1.0, 3.0])
    def test_contract(self, temperature):
        outputs = self.run_layer_test(lambda: TemperatureScaling(temperature), P, (5, 4))
        self.assertAllClose(outputs, loop(P, temperature))

    def test_logits_are_divided(self):
        logits = np.log(P) + 3.0
        expected = keras.ops.softmax(logits / 2.5)
        self.assertAllClose(TemperatureScaling(2.5)(keras.ops.softmax(logits)), expected)

    @given(temperature=st.floats(0.05, 20.0), seed=st.integers(0, 99))
    def test_rows_sum_to_1_and_keep_their_order(self, temperature, seed):
        rows = np.random.default_rng(seed).dirichlet(np.full(3, 0.3), 4).astype("float32")
        scaled = to_numpy(TemperatureScaling(temperature)(rows))
        np.testing.assert_allclose(scaled.sum(axis=1), 1.0, rtol=1e-5)
        largest = np.take_along_axis(scaled, rows.argmax(axis=1)[:, None], axis=1)[:, 0]
        np.testing.assert_array_equal(largest, scaled.max(axis=1))

    @pytest.mark.parametrize("temperature", [0.5, 2.0])
    def test_certainty_stays(self, temperature):
        rows = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]], "float32")
        self.assertAllClose(TemperatureScaling(temperature)(rows), rows)

    def test_nan_stays_nan(self):
        rows = np.array([[np.nan, 0.5, 0.5], [0.2, 0.3, 0.5]], "float32")
        assert np.isnan(to_numpy(TemperatureScaling(2.0)(rows))).any(axis=1).tolist() == [1, 0]

    def test_the_temperature_is_a_weight_that_is_not_trained(self):
        layer = TemperatureScaling(2.0)
        layer(P)
        assert [float(weight) for weight in layer.get_weights()] == [2.0]
        assert layer.trainable_variables == []
        layer.temperature.assign(4.0)
        self.assertAllClose(layer(P), loop(P, 4.0))

    @pytest.mark.parametrize("temperature", [0, -1.0, np.nan, np.inf, "1", None, True])
    def test_wrong_temperature(self, temperature):
        with pytest.raises(ValueError, match="`temperature`.*received"):
            TemperatureScaling(temperature)
