"""Tests of what a model expects its decision to cost."""

import keras
import numpy as np

from csdl_keras.losses import expected_cost
from tests.support.testing import TestCase, tiny_model

COSTS = np.array([[3.0, 1.0, 2.0], [0.5, 0.5, 9.0], [-1.0, 4.0, 0.0]], "float32")


class TestExpectedCost(TestCase):
    def test_values(self):
        expected = [min(row) for row in COSTS]
        self.assertAllClose(expected_cost(None, COSTS), np.array(expected, "float32"))
        self.assertAllClose(
            expected_cost(np.array([0, 1, 2]), COSTS), np.array(expected, "float32")
        )

    def test_evaluate(self):
        model = tiny_model(COSTS, None)
        model.compile(loss=expected_cost)
        value = model.evaluate(COSTS, np.array([0, 1, 2]), verbose=0)
        outputs = keras.ops.convert_to_numpy(model(COSTS))
        np.testing.assert_allclose(value, outputs.min(axis=1).mean(), rtol=1e-5)
