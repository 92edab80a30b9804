import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csdl_keras.layers import ClassProbabilities, TemperatureScaling
from tests.support.testing import TestCase, to_numpy


class TestClassProbabilities(TestCase):
    def test_one_logit(self):
        logits = np.float32([[-500.0], [-1.5], [0.0], [3.0], [500.0]])
        p = 1 / (1 + np.exp(-logits.astype("float64")))
        found = ClassProbabilities(from_logits=True)(logits)
        self.assertAllClose(found, np.hstack([1 - p, p]))


class TestTemperatureScaling(TestCase):
    @settings(max_examples=30)
    @given(temperature=st.floats(0.05, 20.0), seed=st.integers(0, 99))
    def test_rows_sum_to_1_and_keep_their_order(self, temperature, seed):
        rows = np.random.default_rng(seed).dirichlet(np.full(3, 0.3), 4).astype("float32")
        scaled = to_numpy(TemperatureScaling(temperature)(rows))
        np.testing.assert_allclose(scaled.sum(axis=1), 1.0, rtol=1e-5)
        largest = np.take_along_axis(scaled, rows.argmax(axis=1)[:, None], axis=1)[:, 0]
        np.testing.assert_array_equal(largest, scaled.max(axis=1))

    @pytest.mark.parametrize("temperature", [0.5, 2.0])
    def test_certainty_and_nan_stay(self, temperature):
        rows = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [np.nan] * 3], "float32")
        self.assertAllClose(TemperatureScaling(temperature)(rows), rows)
