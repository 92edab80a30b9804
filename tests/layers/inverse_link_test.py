"""Tests of the layer that turns logarithms or logits of costs into costs."""

import math

import keras
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from csdl_keras import decide, output_kind
from csdl_keras.layers import InverseLink
from csdl_keras.losses import LogisticCostLoss, PoissonCostLoss
from csdl_keras.models import cost_estimator, ensemble, mlp
from tests.support.small_models import FEATURES, inputs
from tests.support.testing import TestCase, to_numpy

U = np.random.default_rng(0).normal(size=(5, 4)).astype("float32")


def loop(rows, link, scale):
    inverse = math.exp if link == "log" else lambda u: 1 / (1 + math.exp(-u))
    return np.array([[inverse(float(u)) / scale for u in row] for row in rows])


class TestInverseLink(TestCase):
    @pytest.mark.parametrize("link", ["log", "logit"])
    @pytest.mark.parametrize("scale", [1.0, 0.25])
    def test_contract(self, link, scale):
        outputs = self.run_layer_test(lambda: InverseLink(link, scale), U, (5, 4))
        self.assertAllClose(outputs, loop(U, link, scale))

    @given(st.floats(-50, 50), st.floats(1e-3, 1e3))
    def test_is_the_link_undone(self, log_cost, scale):
        row = np.array([[log_cost]], "float32")
        found = float(to_numpy(InverseLink("log", scale)(row))[0, 0])
        np.testing.assert_allclose(found, math.exp(row[0, 0]) / scale, rtol=1e-4)

    @pytest.mark.parametrize("link", ["exp", None, 1])
    def test_wrong_link(self, link):
        with pytest.raises(ValueError, match="`link`.*received"):
            InverseLink(link)

    @pytest.mark.parametrize("scale", [0, -1.0, np.nan, np.inf, "1"])
    def test_wrong_scale(self, scale):
        with pytest.raises(ValueError, match="`cost_scale`.*received"):
            InverseLink(cost_scale=scale)


class TestCostEstimator(TestCase):
    def test_learns_the_mean_cost_in_the_unit_of_the_costs(self):
        """Two decisions whose costs are drawn from {0, 40} and {10, 20}, whatever the input."""
        rng = np.random.default_rng(0)
        costs = np.stack(
            [40.0 * rng.integers(2, size=800), 10.0 + 10.0 * rng.integers(2, size=800)]
        )
        x = np.ones((800, FEATURES), "float32")
        for loss, link in ((PoissonCostLoss, "log"), (LogisticCostLoss, "logit")):
            network = mlp((FEATURES,), 2, (4,), output="cost", seed=0)
            network.compile(keras.optimizers.Adam(0.01), loss(cost_scale=1 / 40))
            network.fit(x, costs.T, batch_size=40, epochs=20, verbose=0)
            estimates = cost_estimator(network, link, 1 / 40).predict(x[:1], verbose=0)[0]
            np.testing.assert_allclose(estimates, costs.mean(axis=1), rtol=0.1)

    def test_decides_alike_and_averages_costs(self):
        x = inputs(20)
        networks = [mlp((FEATURES,), 3, (5,), output="cost", seed=seed) for seed in range(2)]
        models = [cost_estimator(network) for network in networks]
        assert output_kind(models[0]) == "cost"
        np.testing.assert_array_equal(decide(models[0], x), decide(networks[0], x))
        mean = sum(np.exp(network.predict(x, verbose=0)) for network in networks) / 2
        self.assertAllClose(ensemble(models).predict(x, verbose=0), mean)

    def test_what_it_refuses(self):
        with pytest.raises(ValueError, match="`link`"):
            cost_estimator(mlp((FEATURES,), 3, (5,), output="cost"), "probit")
