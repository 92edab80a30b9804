"""Decisions of pixels `(batch, height, width, K)` and of times `(batch, time, K)`."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras import models
from csdl_keras.layers import CostOutput
from tests.support.testing import TestCase, to_numpy

RNG = np.random.default_rng(0)
C = np.array([[0.0, 1.0, 2.0, 0.5], [5.0, 0.0, 4.0, 0.5], [3.0, 6.0, 0.0, 0.5]])
X = RNG.normal(size=(4, 6, 5, 2)).astype("float32")
LABELS = RNG.integers(3, size=(4, 6, 5))


def network(activation="softmax", units=3, seed=0):
    """A network with a row of outputs for each pixel."""
    keras.utils.set_random_seed(seed)
    head = (
        CostOutput(units)
        if activation == "cost"
        else keras.layers.Conv2D(units, 1, activation=activation)
    )
    return keras.Sequential(
        [keras.Input((None, None, 2)), keras.layers.Conv2D(3, 3, padding="same"), head]
    )


def by_pixel(function, table):
    """`function` of each row of a table `(N, height, width, K)`."""
    return np.array([[[function(row) for row in line] for line in image] for image in table])


class TestDense(TestCase):
    def test_decide(self):
        for kind in ("softmax", "cost"):
            model = network(kind)
            best = np.argmin if kind == "cost" else np.argmax
            expected = by_pixel(best, to_numpy(model(X)))
            for found in (
                csdl.decide(model, X),
                models.decision_model(model).predict(X, verbose=0),
            ):
                assert (found.shape, found.tolist()) == ((4, 6, 5), expected.tolist())

    def test_one_logistic_unit(self):
        model = network("sigmoid", 1)
        expected = by_pixel(lambda p: int(p[0] > 0.5), to_numpy(model(X)))
        assert csdl.decide(model, X).tolist() == expected.tolist()
        costs = csdl.bayes_classifier(model, [[0, 1], [9, 0]]).predict(X, verbose=0)
        self.assertAllClose(costs, by_pixel(lambda p: [9 * p[0], 1 - p[0]], to_numpy(model(X))))

    @pytest.mark.parametrize("from_logits", [False, True])
    def test_bayes_classifier(self, from_logits):
        model = network(None if from_logits else "softmax")
        careful = csdl.bayes_classifier(model, C, from_logits=from_logits)
        p = keras.ops.softmax(model(X)) if from_logits else model(X)
        expected = by_pixel(lambda p: p @ C, to_numpy(p))
        self.assertAllClose(careful.predict(X, verbose=0), expected)
        decided = csdl.decide(careful, X)
        assert decided.tolist() == by_pixel(np.argmin, expected).tolist()
        assert csdl.bayes_decisions(to_numpy(p), C).tolist() == decided.tolist()
        assert csdl.output_kind(careful) == "cost"
        served = models.serving_model(careful)(X)
        assert to_numpy(served["decision"]).tolist() == decided.tolist()
        self.assertAllClose(served["costs"], expected)

    @pytest.mark.parametrize(("activation", "units"), [("softmax", 3), ("sigmoid", 1)])
    def test_calibrate_equals_that_of_as_many_examples(self, activation, units):
        """A network of single pixels, in an image and as examples."""
        keras.utils.set_random_seed(1)
        conv = keras.Sequential(
            [keras.Input((6, 5, 2)), keras.layers.Conv2D(units, 1, activation=activation)]
        )
        dense = keras.Sequential([keras.Input((2,)), keras.layers.Dense(units, activation)])
        kernel, bias = conv.get_weights()
        dense.set_weights([kernel[0, 0] * 20, bias])
        conv.set_weights([kernel * 20, bias])
        labels = LABELS % max(units, 2)
        for method in ("temperature", "bias_corrected"):
            images = csdl.calibrate(conv, X, labels, method)
            rows = csdl.calibrate(dense, X.reshape(-1, 2), labels.ravel(), method)
            found = to_numpy(images(X)).reshape(-1, max(units, 2))
            self.assertAllClose(found, rows(X.reshape(-1, 2)), atol=1e-4)
        with pytest.raises(ValueError, match=r"`y_val` of shape \(4, 6, 5\)"):
            csdl.calibrate(conv, X, labels[:, :2])

    def test_ensemble_and_costs_of_logarithms(self):
        members = [network(seed=0), network(seed=1)]
        mean = models.ensemble(members)
        self.assertAllClose(mean(X), (members[0](X) + members[1](X)) / 2)
        assert csdl.decide(mean, X).shape == (4, 6, 5)
        logs = network("cost")
        self.assertAllClose(models.cost_estimator(logs, "log")(X), np.exp(to_numpy(logs(X))))

    def test_limits_count_all_pixels(self):
        p = RNG.dirichlet(np.ones(3), (2, 3, 4))
        decided, prices = csdl.bayes_decisions(p, C, {3: 5}, return_prices=True)
        rows, same = csdl.bayes_decisions(p.reshape(-1, 3), C, {3: 5}, return_prices=True)
        assert (decided.ravel().tolist(), prices) == (rows.tolist(), same)
        assert decided.shape == (2, 3, 4)
