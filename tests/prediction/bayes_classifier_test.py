import keras
import numpy as np
import pytest
from keras import Sequential, layers

from csdl_keras.layers import BayesDecision, CostOutput
from csdl_keras.models import BayesClassifier, bayes_classifier, mlp
from tests.support.small_models import BUILDERS, Subclassed, Twice, functional, inputs, nested
from tests.support.testing import TestCase

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
WITH_ABSTAIN = np.hstack([MATRIX, np.full((3, 1), 0.75)])
BINARY = np.array([[0.0, 1.0], [5.0, 0.0]])
X = inputs(6)


def softmax_layer():
    return layers.Dense(3, "softmax")


def probabilities(outputs: np.ndarray, from_logits: bool = False) -> np.ndarray:
    """Rows that sum to 1, in float64, from one column or several."""
    outputs = outputs.astype("float64")
    if outputs.shape[1] == 1:
        outputs = np.hstack([0 * outputs if from_logits else 1 - outputs, outputs])
    if not from_logits:
        return outputs
    powers = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


class TestBayesClassifier(TestCase):
    def check(self, model, x=X):
        expected = model.predict(x, verbose=0).astype("float64") @ MATRIX
        self.assertAllClose(bayes_classifier(model, MATRIX).predict(x, verbose=0), expected)

    @pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
    @pytest.mark.parametrize(
        "units,activation", [(3, "softmax"), (3, None), (1, "sigmoid"), (1, None)]
    )
    def test_equals_numpy(self, build, units, activation):
        model = build([layers.Dense(units, activation)])
        matrix, from_logits = WITH_ABSTAIN if units == 3 else BINARY, activation is None
        careful = bayes_classifier(model, matrix, from_logits=from_logits)
        assert isinstance(careful, BayesClassifier)
        assert careful.output_shape == (None, matrix.shape[1])
        expected = probabilities(model.predict(X, verbose=0), from_logits) @ matrix
        self.assertAllClose(careful.predict(X, verbose=0), expected)

    @pytest.mark.parametrize(
        "ending",
        [
            [layers.Dense(3), layers.Softmax()],
            [layers.Dense(3), layers.Activation("softmax")],
            [layers.Dense(3), keras.ops.softmax],
            [layers.Dense(3, "softmax"), layers.Dropout(0.5)],
            [Subclassed(3, "softmax")],
        ],
        ids=["Softmax", "Activation", "ops.softmax", "Dropout", "subclassed"],
    )
    def test_other_endings_whose_rows_sum_to_one(self, ending):
        self.check(functional(ending))

    def test_shares_layers(self):
        model = mlp((3,), 3, (4,))
        careful = bayes_classifier(model, MATRIX)
        assert careful.name == "mlp_bayes"
        for layer in model.layers:
            assert careful.get_layer(layer.name) is layer
        kernel, bias = model.layers[-1].get_weights()
        model.layers[-1].set_weights([0 * kernel, 0 * bias])
        self.assertAllClose(careful(X), np.tile(MATRIX.mean(axis=0), (6, 1)))
        careful.layers[-1].set_cost_matrix(MATRIX.T)
        self.assertAllClose(careful(X), np.tile(MATRIX.mean(axis=1), (6, 1)))


class TestWrongClassifiers:
    @pytest.mark.parametrize("build", [functional, nested])
    @pytest.mark.parametrize(
        "ending",
        [
            layers.Dense(3, "sigmoid"),
            layers.Dense(3, "log_softmax"),
            layers.Dense(1),
            layers.Softmax(axis=0),
            CostOutput(3),
            BayesDecision(MATRIX),
        ],
        ids=["sigmoid", "log_softmax", "linear", "axis=0", "cost", "bayes"],
    )
    def test_raises_at_construction(self, build, ending):
        ending = type(ending).from_config(ending.get_config())
        model = build([layers.Dense(3), ending])
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
        "model,match",
        [
            (None, "keras.Model"),
            (softmax_layer(), "keras.Model"),
            (Subclassed(3, "softmax"), "Wrap it"),
            (Sequential([softmax_layer()]), "Wrap it"),
        ],
    )
    def test_no_model_with_known_inputs(self, model, match):
        with pytest.raises(ValueError, match=match):
            bayes_classifier(model, MATRIX)
