"""Tests of layers that output costs, and of models that end in them."""

import keras
import numpy as np
import pytest

from csdl_keras import decide, output_kind
from csdl_keras.layers import CostOutput, InverseLink
from csdl_keras.models import cost_estimator, mlp
from tests.support.small_models import FEATURES, inputs
from tests.support.testing import TestCase, to_numpy

X = np.random.default_rng(0).normal(size=(4, 5)).astype("float32")


class TestCostOutput(TestCase):
    def test_is_a_linear_dense_layer(self):
        layer = CostOutput(3, bias_initializer="ones", activation="linear")
        outputs = layer(X)
        kernel, bias = layer.get_weights()
        self.assertAllClose(outputs, X @ kernel + bias)
        assert layer.count_params() == 5 * 3 + 3


class TestInverseLink(TestCase):
    @pytest.mark.parametrize("scale", [1e-3, 7.0, 1e3])
    def test_is_the_link_undone(self, scale):
        u = np.linspace(-50, 50, 21, dtype="float32")[None]
        found = to_numpy(InverseLink("log", scale)(u))
        np.testing.assert_allclose(found, np.exp(u) / scale, rtol=1e-4)

    @pytest.mark.parametrize("link", ["log", "logit"])
    @pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
    def test_finite_and_in_order(self, link, dtype):
        rng = np.random.default_rng(0)
        values = np.sort(rng.uniform(-1, 1, size=(20, 6)) * np.logspace(0, 4, 20)[:, None], axis=1)
        for scale in (1e-38, 0.1, 1e38):
            found = InverseLink(link, scale, dtype=dtype)(values)
            found = to_numpy(keras.ops.cast(found, "float32"))
            assert np.isfinite(found).all() and (found > 0).all()
            assert (np.diff(found, axis=1) >= 0).all()
            if dtype in ("float32", "float64") and link == "log":
                assert (np.diff(found, axis=1)[np.diff(values, axis=1) > 0.1] > 0).all()


class TestCostEstimator(TestCase):
    @pytest.mark.parametrize(
        ("link", "inverse"), [("log", np.exp), ("logit", lambda u: 1 / (1 + np.exp(-u)))]
    )
    def test_outputs_costs_in_the_unit_of_the_costs(self, link, inverse, run_eagerly):
        network = mlp((FEATURES,), 3, (4,), output="cost", seed=0)
        x = inputs(20)
        estimator = cost_estimator(network, link, 1 / 40)
        self.assertAllClose(estimator(x), 40 * inverse(to_numpy(network(x))), atol=1e-4)
        assert output_kind(estimator) == "cost"
        np.testing.assert_array_equal(decide(estimator, x), decide(network, x))
