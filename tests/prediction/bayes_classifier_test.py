import keras
import numpy as np
import pytest
from keras import layers

from csdl_keras import adjust_priors, calibrate
from csdl_keras.layers import BayesDecision, CostOutput
from csdl_keras.models import bayes_classifier, ensemble, mlp
from tests.support.small_models import Subclassed, Twice, functional, inputs, nested
from tests.support.testing import TestCase

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
BINARY = np.array([[0.0, 1.0], [5.0, 0.0]])
X = inputs(6)


def softmax_layer():
    return layers.Dense(3, "softmax")


class TestBayesClassifier(TestCase):
    def test_set_cost_matrix(self, tmp_path):
        """Compiled predictions follow, and the layers of the classifier are shared."""
        model = mlp((3,), 3, (4,))
        careful = bayes_classifier(model, MATRIX)
        assert careful.name == "mlp_bayes"
        rows = model.predict(X, verbose=0)
        for matrix in (MATRIX, MATRIX.T, 2 * MATRIX):
            careful.set_cost_matrix(matrix)
            self.assertAllClose(careful.predict(X, verbose=0), rows @ matrix, atol=1e-5)
        careful.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        self.assertAllClose(loaded.predict(X, verbose=0), rows @ (2 * MATRIX), atol=1e-5)
        kernel, bias = model.layers[-1].get_weights()
        model.layers[-1].set_weights([0 * kernel, 0 * bias])
        self.assertAllClose(careful(X), np.tile(2 * MATRIX.mean(axis=0), (6, 1)))

    @pytest.mark.parametrize("kind", ["calibrated", "adjusted", "ensemble"])
    def test_a_model_made_of_another_has_its_own_matrix(self, kind):
        source = bayes_classifier(functional([softmax_layer()]), MATRIX)
        made = {
            "calibrated": lambda: calibrate(source, X, np.arange(6) % 3),
            "adjusted": lambda: adjust_priors(source, [1, 1, 1], [1, 2, 3]),
            "ensemble": lambda: ensemble([source]),
        }[kind]()
        before = source.predict(X, verbose=0)
        made.set_cost_matrix(MATRIX.T)
        self.assertAllClose(source.predict(X, verbose=0), before)


class TestWrongClassifiers:
    @pytest.mark.parametrize(
        "ending",
        [layers.Dense(3, "sigmoid"), layers.Dense(1), CostOutput(3), BayesDecision(MATRIX)],
        ids=["sigmoid", "linear", "cost", "bayes"],
    )
    def test_raises_at_construction(self, ending):
        model = nested([layers.Dense(3), ending])
        matrix = BINARY if model.output_shape[-1] == 1 else MATRIX
        costs = isinstance(ending, (CostOutput, BayesDecision))
        with pytest.raises(ValueError, match="outputs costs" if costs else "from_logits=True"):
            bayes_classifier(model, matrix)
        if costs:
            with pytest.raises(ValueError, match="outputs costs"):
                bayes_classifier(model, matrix, from_logits=True)

    @pytest.mark.parametrize("ending", [[softmax_layer(), Twice()], [Subclassed(3)]])
    def test_unknown_layer_raises_in_predict(self, ending, tmp_path):
        careful = bayes_classifier(functional(ending), MATRIX)
        models = [careful]
        if isinstance(ending[-1], Twice):
            careful.save(tmp_path / "model.keras")
            models.append(keras.saving.load_model(tmp_path / "model.keras"))
        for model in models:
            with pytest.raises(ValueError, match="6 of 6 rows.*logits, pass from_logits=True"):
                model.predict(X, verbose=0)

    @pytest.mark.parametrize(
        "model,match", [(softmax_layer(), "keras.Model"), (Subclassed(3, "softmax"), "Wrap it")]
    )
    def test_no_model_with_known_inputs(self, model, match):
        with pytest.raises(ValueError, match=match):
            bayes_classifier(model, MATRIX)
