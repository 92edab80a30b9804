"""Tests of layers that estimate costs, also far from the training data."""

import keras
import numpy as np
import pytest
from scipy.special import logsumexp

from csdl_keras import decide, output_kind
from csdl_keras.layers import ClassCosts, ExpectedCost, InverseLink
from csdl_keras.models import cost_estimator, mlp
from tests.support.testing import TestCase, to_numpy

RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.ones(3), size=40)
DTYPES = {"float16": 2e-3, "bfloat16": 1e-2, "float32": 1e-5, "float64": 1e-5}


class TestExpectedCost(TestCase):
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_equals_numpy(self, dtype):
        costs = RNG.uniform(0.5, 9, size=(40, 3, 4))
        costs[:, [0, 1, 2], [0, 1, 2]] = 0
        with np.errstate(divide="ignore"):
            log_costs = np.log(costs)
        layer = self.run_config_round_trip(ExpectedCost(dtype=dtype))
        found = to_numpy(keras.ops.cast(layer(P, log_costs=log_costs), "float32"))
        expected = np.einsum("ny,nyk->nk", P, costs)
        self.assertAllClose(found, expected, rtol=2 * DTYPES[dtype], atol=1e-6)

    @pytest.mark.parametrize("size", [10.0, 1e3, 2e4])
    @pytest.mark.parametrize("dtype", ["float16", "float32"])
    def test_finite_and_in_order_whatever_the_logarithms(self, dtype, size):
        log_costs = RNG.uniform(-size, size, size=(40, 3, 5))
        found = ExpectedCost(dtype=dtype)(P, log_costs=log_costs)
        found = to_numpy(keras.ops.cast(found, "float32"))
        assert np.isfinite(found).all() and (found >= 0).all()
        logs = logsumexp(np.log(P)[:, :, None] + log_costs, axis=1)
        # Logarithms of that size have steps, and so has the float type of the result.
        apart = 0.02 if dtype == "float32" else 0.2
        for row, log in zip(found, logs, strict=True):
            for k in range(len(log)):
                larger = log > log[k] + apart * max(1.0, abs(log[k]))
                assert (row[larger] >= row[k]).all()

    @pytest.mark.parametrize(
        ("p", "log_costs"), [(0.0, [1e6, np.inf, -np.inf]), (0.5, [-np.inf, -np.inf, -np.inf])]
    )
    def test_impossible_classes_and_costs_of_0(self, p, log_costs):
        log_costs = np.array([[log_costs, [-np.inf] * 3]])
        found = ExpectedCost()(np.array([[p, 1 - p]]), log_costs=log_costs)
        self.assertAllClose(found, np.zeros((1, 3)))

    def test_costs_are_not_taken_for_their_logarithms(self):
        costs = np.ones((40, 3, 2))
        with pytest.raises(ValueError, match="log_costs"):
            ExpectedCost()([P, costs])
        with pytest.raises(TypeError, match="positional"):
            ExpectedCost()(P, costs)
        with pytest.raises(ValueError, match=r"logarithms of costs \(batch, K, D\)"):
            ExpectedCost()(P, log_costs=costs[:, :2])


class TestClassCosts(TestCase):
    MEANS = np.array([[0.0, 2.0, 0.5], [5.0, 0.0, 0.5]])

    def far(self, rank, dtype=None):
        layer = ClassCosts(self.MEANS, rank=rank, seed=0, dtype=dtype)
        layer.build((None, 4))
        for weight in layer.trainable_weights:
            weight.assign(RNG.normal(scale=0.5, size=weight.shape))
        return layer

    @pytest.mark.parametrize("rank", [None, 2])
    @pytest.mark.parametrize("size", [1.0, 1e2, 1e5])
    def test_equals_numpy(self, rank, size):
        """Logarithms of costs change in proportion up to 10, and logarithmically beyond."""
        layer = self.far(rank)
        x = (size * RNG.normal(size=(6, 4))).astype("float32")
        first, second = (to_numpy(weight).astype("float64") for weight in layer.trainable_weights)
        if rank is None:
            change = (x @ first).reshape(6, 2, 3) + second
        else:
            change = (x @ first).reshape(6, 2, rank) @ (x @ second).reshape(6, rank, 3)
        beyond = np.maximum(np.abs(change) - 10, 0)
        damped = np.sign(change) * (np.minimum(np.abs(change), 10) + np.log1p(beyond))
        priced = self.MEANS > 0
        expected = (np.log(np.where(priced, self.MEANS, 1)) + damped)[:, priced]
        self.assertAllClose(to_numpy(layer(x))[:, priced], expected, atol=1e-3, rtol=1e-3)

    @pytest.mark.parametrize("dtype", [None, "float16"])
    @pytest.mark.parametrize("rank", [None, 2])
    def test_finite_and_costs_of_0_stay(self, rank, dtype):
        layer = self.far(rank, dtype)
        for size in (0.0, 1.0, 1e2 if dtype == "float16" else 1e15):
            logs = layer(size * RNG.normal(size=(5, 4)))
            logs = to_numpy(keras.ops.cast(logs, "float32"))
            assert np.isfinite(logs).all()
            assert np.all((logs < -2e4) == (self.MEANS == 0))


class TestInverseLink(TestCase):
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


@pytest.mark.parametrize(
    ("link", "inverse"), [("log", np.exp), ("logit", lambda u: 1 / (1 + np.exp(-u)))]
)
def test_an_estimator_outputs_costs_in_their_unit(link, inverse, run_eagerly):
    network = mlp((4,), 3, (4,), output="cost", seed=0)
    x = RNG.normal(size=(20, 4)).astype("float32")
    estimator = cost_estimator(network, link, 1 / 40)
    TestCase().assertAllClose(estimator(x), 40 * inverse(to_numpy(network(x))), atol=1e-4)
    assert output_kind(estimator) == "cost"
    np.testing.assert_array_equal(decide(estimator, x), decide(network, x))
