import keras
import numpy as np
import pytest
from keras import layers

import csdl_keras as csdl
from csdl_keras import adjust_priors, bayes_classifier, calibrate, decide, output_kind
from csdl_keras.models import BayesClassifier, ensemble, expected_cost_model
from tests.support.small_models import functional, inputs, nested
from tests.support.testing import TestCase

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
X = inputs(40)
LABELS = np.arange(40) % 3
TRAINED, USED, LATER = [0.2, 0.3, 0.5], [0.6, 0.3, 0.1], [5, 1, 2]


def softmax():
    return functional([layers.Dense(3, "softmax")])


def loop(probabilities, from_priors, to_priors):
    """The equation, example by example."""
    found = np.zeros(np.shape(probabilities))
    for n, row in enumerate(np.asarray(probabilities, "float64")):
        weights = [
            p * (to / sum(to_priors)) / (old / sum(from_priors))
            for p, old, to in zip(row, from_priors, to_priors, strict=True)
        ]
        found[n] = np.array(weights) / sum(weights)
    return found


class TestProbabilities(TestCase):
    @pytest.mark.parametrize("to_priors", [USED, LATER, [0.0, 1.0, 1.0]])
    def test_equals_a_loop(self, to_priors):
        rows = np.random.default_rng(0).dirichlet([0.5] * 3, 30)
        found = adjust_priors(rows, TRAINED, to_priors)
        self.assertAllClose(found, loop(rows, TRAINED, to_priors), atol=1e-12)

    def test_of_class_1(self):
        p = np.array([0.0, 0.2, 1.0])
        expected = loop(np.stack([1 - p, p], axis=1), [1, 1], [9, 1])
        for given_as in (p, p[:, None], p.tolist()):
            self.assertAllClose(adjust_priors(given_as, [1, 1], [9, 1]), expected)

    def test_extreme_frequencies_and_probabilities(self):
        rows = [[1.0, 0.0, 0.0], [0.0, 1e-300, 1.0]]
        for before, after in (([1e-320, 1, 1], [1, 1, 1]), ([1, 1e300, 1e300], [0, 1, 3])):
            found = adjust_priors(rows, before, after)
            assert np.isfinite(found).all()
            self.assertAllClose(found.sum(axis=1), np.ones(2))
        # All probability is on a class that does not occur: the others are as likely as before.
        self.assertAllClose(adjust_priors(rows, [1, 1, 1], [0, 1, 3])[0], [0, 0.25, 0.75])


class TestModels(TestCase):
    @pytest.mark.parametrize("build", [functional, nested])
    def test_a_classifier(self, build):
        model = build([layers.Dense(3, "softmax")])
        before = model.predict(X, verbose=0)
        adjusted = adjust_priors(model, TRAINED, USED)
        assert output_kind(adjusted) == "probability"
        expected = loop(before, TRAINED, USED)
        self.assertAllClose(adjusted.predict(X, verbose=0), expected)
        np.testing.assert_array_equal(decide(adjusted, X), expected.argmax(axis=1))
        self.assertAllClose(model.predict(X, verbose=0), before)
        kernel, bias = model.get_weights()[-2:]
        model.set_weights([*model.get_weights()[:-2], 0 * kernel, 0 * bias])
        self.assertAllClose(adjusted.predict(X[:1], verbose=0), loop([[1 / 3] * 3], TRAINED, USED))

    @pytest.mark.parametrize("activation", ["sigmoid", None])
    def test_one_unit_that_rounds_to_1(self, activation):
        """A logit of 20 is a probability of 1 in float32, which no ratio could change."""
        unit = layers.Dense(1, activation, kernel_initializer="ones")
        model = keras.Sequential([keras.Input((1,)), unit])
        adjusted = adjust_priors(model, [1, 1], [1e6, 1], from_logits=activation is None)
        odds = np.exp([20.0, -20.0, 0.0]) / 1e6
        found = adjusted.predict(np.array([[20.0], [-20.0], [0.0]]), verbose=0)
        self.assertAllClose(found[:, 1], odds / (1 + odds), rtol=1e-4)

    @pytest.mark.parametrize("kind", ["bayes", "calibrated", "ensemble", "cost model"])
    def test_expected_costs(self, kind):
        """The costs of what decides by costs are those of its adjusted probabilities."""
        if kind == "cost model":
            head = expected_cost_model(functional([layers.Dense(5, "tanh")]), MATRIX, seed=0)
            careful, rows = head.cost_model(), head.predict(X, verbose=0)["probability"]
        else:
            model = softmax() if kind != "ensemble" else ensemble([softmax(), softmax()])
            if kind == "calibrated":
                model = calibrate(model, X, LABELS)
            careful, rows = bayes_classifier(model, MATRIX), model.predict(X, verbose=0)
        adjusted = adjust_priors(careful, TRAINED, USED)
        assert isinstance(adjusted, BayesClassifier) and output_kind(adjusted) == "cost"
        expected = loop(rows, TRAINED, USED) @ MATRIX
        self.assertAllClose(adjusted.predict(X, verbose=0), expected, atol=1e-4)

    @pytest.mark.parametrize(
        "model,changes,match",
        [
            (None, {}, "real numbers"),
            ("cost", {}, "outputs costs: it ends in CostOutput"),
            ("softmax", {"from_priors": [1, 1]}, "each of 3 classes; received 2"),
            ("softmax", {"to_priors": [1, 1, -1]}, "`to_priors`.*at least 0"),
            ("softmax", {"from_priors": [1, 0, 1]}, "`from_priors`.*above 0"),
            ("softmax", {"from_logits": True}, "outputs probabilities"),
            ("softmax", {"from_logits": 1}, "`from_logits`"),
            ("linear", {}, "from_logits=True"),
        ],
    )
    def test_errors(self, model, changes, match):
        ends = {"cost": csdl.CostOutput(3), "linear": layers.Dense(1)}
        if model is not None:
            model = functional([ends.get(model, layers.Dense(3, "softmax"))])
        with pytest.raises(ValueError, match=match):
            adjust_priors(model, **{"from_priors": TRAINED, "to_priors": USED, **changes})
