"""Tests of the cost in units of the best constant decision's."""

import keras
import numpy as np
import pytest

from csdl_keras.evaluation import normalized_cost, savings
from csdl_keras.metrics import NormalizedCost, Savings
from tests.support.testing import TestCase, to_numpy

C = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 4.0], [3.0, 6.0, 0.0]])
RNG = np.random.default_rng(0)
LABELS = RNG.integers(3, size=23)
OUTPUTS = RNG.normal(size=(23, 3)).astype("float32")
BY_KIND = {"cost": OUTPUTS, "probability": RNG.dirichlet(np.ones(3), 23).astype("float32")}


class TestNormalizedCost(TestCase):
    @pytest.mark.parametrize("labels", [True, False])
    @pytest.mark.parametrize("output", ["cost", "probability"])
    def test_over_batches(self, labels, output):
        metric = NormalizedCost(C if labels else None, None if labels else 3, output=output)
        metric = self.run_config_round_trip(metric)
        targets = LABELS if labels else C[LABELS]
        outputs = BY_KIND[output]
        decided = outputs.argmin(axis=1) if output == "cost" else outputs.argmax(axis=1)
        for part in (slice(0, 10), slice(10, 11), slice(11, None)):
            metric.update_state(targets[part], outputs[part])
        self.assertAllClose(metric.result(), normalized_cost(LABELS, decided, C))
        metric.reset_state()
        metric.update_state(targets[:9], outputs[:9])
        self.assertAllClose(metric.result(), normalized_cost(LABELS[:9], decided[:9], C))

    @pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
    def test_sample_weight(self, shape):
        weights = RNG.integers(0, 4, size=23)
        metric = NormalizedCost(C)
        metric.update_state(LABELS, OUTPUTS, sample_weight=weights.reshape(shape))
        repeated = np.repeat(np.arange(23), weights)
        decided = OUTPUTS.argmin(axis=1)[repeated]
        self.assertAllClose(metric.result(), normalized_cost(LABELS[repeated], decided, C))

    def test_in_fit(self):
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(3)])
        model.compile("sgd", loss="mse", metrics=[NormalizedCost(C)])
        logs = model.evaluate(OUTPUTS, LABELS[:, None], batch_size=4, verbose=0, return_dict=True)
        decided = to_numpy(model(OUTPUTS)).argmin(axis=1)
        self.assertAllClose(logs["normalized_cost"], normalized_cost(LABELS, decided, C))

    def test_bayes(self):
        p = RNG.dirichlet(np.ones(3), 23).astype("float32")
        metric = NormalizedCost(C, output="probability", bayes=True)
        metric.update_state(LABELS, p)
        self.assertAllClose(metric.result(), normalized_cost(LABELS, (p @ C).argmin(axis=1), C))

    def test_what_it_refuses(self):
        with pytest.raises(ValueError, match="received neither"):
            NormalizedCost()
        with pytest.raises(ValueError, match="Expected `num_decisions` to be 3.*received 4"):
            NormalizedCost(C, 4)


class TestSavings(TestCase):
    @pytest.mark.parametrize("output", ["cost", "probability"])
    def test_over_batches(self, output):
        metric = self.run_config_round_trip(Savings(C, output=output))
        outputs = BY_KIND[output]
        decided = outputs.argmin(axis=1) if output == "cost" else outputs.argmax(axis=1)
        for part in (slice(0, 10), slice(10, None)):
            metric.update_state(LABELS[part], outputs[part])
        self.assertAllClose(metric.result(), savings(LABELS, decided, C))

    def test_its_ends(self):
        perfect, constant = Savings(C), Savings(C)
        perfect.update_state(LABELS, C[LABELS])
        constant.update_state(LABELS, np.tile(C[LABELS].sum(axis=0), (23, 1)))
        assert (float(perfect.result()), float(constant.result())) == (1.0, 0.0)
