import keras
import numpy as np
import pytest
from keras import layers

from csdl_keras import adjust_priors, bayes_classifier, calibrate, decide
from csdl_keras.models import ensemble
from tests.support.small_models import functional, inputs
from tests.support.testing import TestCase

MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
PRICES = np.array([[0.0, 30.0, 1.0], [0.5, 0.0, 6.0], [2.0, 2.0, 0.0]])
X = inputs(40)


def softmax():
    return functional([layers.Dense(3, "softmax")])


def careful(kind):
    """A model that decides by `MATRIX`, and the model of its probabilities."""
    model = ensemble([softmax(), softmax()]) if kind == "ensemble of classifiers" else softmax()
    if kind == "ensemble of costs":
        members = [bayes_classifier(softmax(), MATRIX) for _ in range(2)]
        return ensemble(members), ensemble([softmax(), softmax()])
    finish = {
        "calibrated": lambda m: calibrate(m, X, np.arange(40) % 3),
        "adjusted": lambda m: adjust_priors(m, [1, 1, 1], [1, 2, 3]),
    }.get(kind, lambda m: m)
    return finish(bayes_classifier(model, MATRIX)), finish(model)


KINDS = ["plain", "calibrated", "adjusted", "ensemble of classifiers", "ensemble of costs"]


class TestSetCostMatrix(TestCase):
    @pytest.mark.parametrize("kind", KINDS)
    def test_compiled_predictions_follow(self, kind, tmp_path):
        model, classifier = careful(kind)
        rows = classifier.predict(X, verbose=0).astype("float64")
        self.assertAllClose(model.predict(X, verbose=0), rows @ MATRIX, atol=1e-4)
        before = decide(model, X)
        for matrix in (PRICES, MATRIX.T, 2 * PRICES):
            model.set_cost_matrix(matrix)
            self.assertAllClose(model.predict(X, verbose=0), rows @ matrix, atol=1e-4)
        assert (decide(model, X) != before).any()
        model.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        self.assertAllClose(loaded.predict(X, verbose=0), rows @ (2 * PRICES), atol=1e-4)
        loaded.set_cost_matrix(MATRIX)
        self.assertAllClose(loaded.predict(X, verbose=0), rows @ MATRIX, atol=1e-4)

    @pytest.mark.parametrize("kind", ["calibrated", "adjusted", "ensemble of costs"])
    def test_a_model_made_of_another_has_its_own(self, kind):
        source = bayes_classifier(softmax(), MATRIX)
        made = {
            "calibrated": lambda: calibrate(source, X, np.arange(40) % 3),
            "adjusted": lambda: adjust_priors(source, [1, 1, 1], [1, 2, 3]),
            "ensemble of costs": lambda: ensemble([source]),
        }[kind]()
        before = source.predict(X, verbose=0)
        made.set_cost_matrix(PRICES)
        self.assertAllClose(source.predict(X, verbose=0), before)

    def test_costs_that_are_an_input_have_no_matrix(self):
        with pytest.raises(ValueError, match="costs are an input"):
            bayes_classifier(softmax(), cost_input=True).set_cost_matrix(PRICES)
