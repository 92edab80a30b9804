import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csdl_keras.layers import ClassProbabilities, TemperatureScaling
from tests.support.testing import TestCase, to_numpy

P = np.random.default_rng(0).dirichlet(np.ones(4), 5).astype("float32")
NAN, INF = float("nan"), float("inf")


class TestClassProbabilities(TestCase):
    def test_one_logit(self):
        logits = np.float32([[-500.0], [-1.5], [0.0], [3.0], [500.0]])
        p = 1 / (1 + np.exp(-logits.astype("float64")))
        found = ClassProbabilities(from_logits=True)(logits)
        self.assertAllClose(found, np.hstack([1 - p, p]))

    @pytest.mark.parametrize(
        "row",
        [[0.5, 0.6], [0.2, 0.2], [1.5, -0.5], [-0.001, 1.001], [NAN, 0.5], [INF, 0.0], [INF, -INF]],
    )
    def test_bad_row_becomes_nan_and_no_other(self, row):
        x = np.array([[0.3, 0.7], row, [1.0, 0.0]], "float32")
        outputs = to_numpy(ClassProbabilities()(x))
        assert np.isnan(outputs[1]).all()
        np.testing.assert_array_equal(outputs[[0, 2]], x[[0, 2]])


class TestTemperatureScaling(TestCase):
    def test_logits_are_divided(self):
        logits = np.log(P) + 3.0
        expected = keras.ops.softmax(logits / 2.5)
        self.assertAllClose(TemperatureScaling(2.5)(keras.ops.softmax(logits)), expected)

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
