import keras
import numpy as np
import pytest
from keras import Sequential, layers

from csdl_keras.layers import BayesDecision, CostOutput
from csdl_keras.models import BayesClassifier, bayes_classifier, mlp
from tests.support.small_models import BUILDERS, Subclassed, Twice, functional, inputs, nested
from tests.support.testing import TestCase, dtype_policy

MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
WITH_ABSTAIN = np.hstack([MATRIX, np.full((3, 1), 0.75)])
BINARY = np.array([[0.0, 1.0], [5.0, 0.0]])
X = inputs(6)
EVERY_BUILDER = pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)


def softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores.astype("float64"))
    return powers / powers.sum(axis=1, keepdims=True)


def logistic(scores: np.ndarray) -> np.ndarray:
    """The columns P(y=0) and P(y=1) of `(N, 1)` scores."""
    p = 1 / (1 + np.exp(-scores.astype("float64")))
    return np.hstack([1 - p, p])


class TestBayesClassifier(TestCase):
    @EVERY_BUILDER
    @pytest.mark.parametrize("matrix", [MATRIX, WITH_ABSTAIN], ids=["K=D", "K<D"])
    def test_equals_numpy(self, build, matrix):
        model = build([layers.Dense(3, "softmax")])
        careful = bayes_classifier(model, matrix)
        assert isinstance(careful, BayesClassifier)
        assert careful.output_shape == (None, matrix.shape[1])
        expected = model.predict(X, verbose=0) @ matrix
        self.assertAllClose(careful.predict(X, verbose=0), expected)
        self.assertAllClose(careful(X), expected)

    @EVERY_BUILDER
    def test_one_logistic_unit(self, build):
        model = build([layers.Dense(1, "sigmoid")])
        p = model.predict(X, verbose=0)
        outputs = bayes_classifier(model, BINARY).predict(X, verbose=0)
        self.assertAllClose(outputs, np.hstack([1 - p, p]) @ BINARY)

    @EVERY_BUILDER
    def test_logits(self, build):
        model = build([layers.Dense(3)])
        outputs = bayes_classifier(model, MATRIX, from_logits=True).predict(X, verbose=0)
        self.assertAllClose(outputs, softmax(model.predict(X, verbose=0)) @ MATRIX)

    def test_one_logit(self):
        model = functional([layers.Dense(1)])
        outputs = bayes_classifier(model, BINARY, from_logits=True).predict(X, verbose=0)
        self.assertAllClose(outputs, logistic(model.predict(X, verbose=0)) @ BINARY)

    @pytest.mark.parametrize(
        "ending",
        [
            [layers.Dense(3), layers.Softmax()],
            [layers.Dense(3), layers.Activation("softmax")],
            [layers.Dense(3), keras.ops.softmax],
            [layers.Dense(3, "softmax"), layers.Dropout(0.5)],
        ],
        ids=["Softmax", "Activation", "ops.softmax", "Dropout"],
    )
    def test_other_endings_whose_rows_sum_to_one(self, ending):
        model = functional(ending)
        outputs = bayes_classifier(model, MATRIX).predict(X, verbose=0)
        self.assertAllClose(outputs, model.predict(X, verbose=0) @ MATRIX)

    def test_costs_move_the_threshold(self):
        # Class 1 costs less from P(y=1) > 1/6 on, where 5 P(y=1) > 1 P(y=0).
        p = np.array([[0.0], [0.16], [0.17], [0.5], [1.0]], "float32")
        x = keras.Input((1,))
        careful = bayes_classifier(keras.Model(x, layers.Identity()(x)), BINARY)
        assert careful.predict(p, verbose=0).argmin(axis=1).tolist() == [0, 0, 1, 1, 1]

    def test_shares_layers_and_trains_nothing(self):
        model = mlp((3,), 3, (4,))
        careful = bayes_classifier(model, MATRIX)
        assert careful.name == "mlp_bayes"
        for layer in model.layers:
            assert careful.get_layer(layer.name) is layer
        kernel, bias = model.layers[-1].get_weights()
        model.layers[-1].set_weights([0 * kernel, 0 * bias])
        self.assertAllClose(careful(X), np.tile(MATRIX.mean(axis=0), (6, 1)))

    @pytest.mark.filterwarnings("ignore:When providing `inputs` as a dict")
    @pytest.mark.parametrize("keys", [("a", "b"), ("left", "right"), None])
    def test_two_inputs(self, keys):
        first, second = keras.Input((3,), name="a"), keras.Input((3,), name="b")
        outputs = layers.Dense(3, "softmax")(layers.Concatenate()([first, second]))

        def pair(one, two):
            return dict(zip(keys, (one, two), strict=True)) if keys else [one, two]

        model, x = keras.Model(pair(first, second), outputs), pair(X, -2 * X)
        careful = bayes_classifier(model, MATRIX).predict(x, verbose=0)
        self.assertAllClose(careful, model.predict(x, verbose=0) @ MATRIX)

    def test_mixed_precision_network_gives_float32_costs(self):
        with dtype_policy("mixed_bfloat16"):
            model = functional([layers.Dense(3, "softmax")])
            careful = bayes_classifier(model, MATRIX)
        assert careful.output.dtype == "float32"
        # How much a compiled softmax rounds is the backend's choice.
        expected = model.predict(X, verbose=0).astype("float64") @ MATRIX
        self.assertAllClose(careful.predict(X, verbose=0), expected, rtol=0.02, atol=0.02)

    def test_set_cost_matrix_of_the_result(self):
        model = functional([layers.Dense(3, "softmax")])
        careful = bayes_classifier(model, MATRIX)
        assert isinstance(careful.layers[-1], BayesDecision)
        careful.layers[-1].set_cost_matrix(MATRIX.T)
        expected = model.predict(X, verbose=0) @ MATRIX.T
        self.assertAllClose(careful.predict(X, verbose=0), expected)

    def test_loads_with_its_class(self, tmp_path):
        careful = bayes_classifier(functional([layers.Dense(3, "softmax"), Twice()]), MATRIX)
        careful.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        with pytest.raises(ValueError, match="sum to 1"):
            loaded.predict(X, verbose=0)


class TestWrongClassifiers(TestCase):
    @pytest.mark.parametrize(
        "ending",
        [
            layers.Dense(3),
            layers.Dense(3, "relu"),
            layers.Dense(3, "sigmoid"),
            layers.Dense(3, "log_softmax"),
            layers.Softmax(axis=0),
            CostOutput(3),
            BayesDecision(MATRIX),
        ],
        ids=["linear", "relu", "sigmoid", "log_softmax", "axis=0", "cost", "bayes"],
    )
    @pytest.mark.parametrize("build", [functional, nested])
    def test_raises_at_construction(self, build, ending):
        ending = type(ending).from_config(ending.get_config())
        model = build([layers.Dense(3), ending])
        costs = isinstance(ending, (CostOutput, BayesDecision))
        with pytest.raises(ValueError, match="outputs costs" if costs else "from_logits=True"):
            bayes_classifier(model, MATRIX)
        if costs:
            with pytest.raises(ValueError, match="outputs costs"):
                bayes_classifier(model, MATRIX, from_logits=True)

    def test_linear_unit_raises_at_construction(self):
        with pytest.raises(ValueError, match="from_logits=True"):
            bayes_classifier(functional([layers.Dense(1)]), BINARY)

    def test_unknown_layer_raises_in_predict(self):
        model = functional([layers.Dense(3, "softmax"), Twice()])
        with pytest.raises(ValueError, match="6 of 6 rows"):
            bayes_classifier(model, MATRIX).predict(X, verbose=0)

    def test_nan_input_raises_in_predict(self):
        x = X.copy()
        x[2, 1] = np.nan
        careful = bayes_classifier(functional([layers.Dense(3, "softmax")]), MATRIX)
        with pytest.raises(ValueError, match="1 of 6 rows"):
            careful.predict(x, verbose=0)

    @pytest.mark.parametrize("activation", ["softmax", None])
    def test_wrapped_subclassed_model(self, activation):
        model = functional([Subclassed(3, activation)])
        careful = bayes_classifier(model, MATRIX)
        if activation:
            expected = model.predict(X, verbose=0) @ MATRIX
            self.assertAllClose(careful.predict(X, verbose=0), expected)
        else:
            with pytest.raises(ValueError, match="sum to 1"):
                careful.predict(X, verbose=0)

    @pytest.mark.parametrize("make", [Subclassed, lambda *args: Sequential([layers.Dense(*args)])])
    def test_unknown_inputs(self, make):
        with pytest.raises(ValueError, match="Wrap it"):
            bayes_classifier(make(3, "softmax"), MATRIX)

    @pytest.mark.parametrize(
        "matrix", [BINARY, 1 - np.eye(4), MATRIX[:, :2], MATRIX - 1, MATRIX + 1, MATRIX[0], None]
    )
    def test_wrong_matrix(self, matrix):
        with pytest.raises(ValueError, match="`cost_matrix`"):
            bayes_classifier(functional([layers.Dense(3, "softmax")]), matrix)

    def test_one_unit_needs_two_rows(self):
        with pytest.raises(ValueError, match="2 classes"):
            bayes_classifier(functional([layers.Dense(1, "sigmoid")]), MATRIX)

    def test_output_of_three_dimensions(self):
        model = functional([layers.Reshape((3, 1)), layers.Dense(3, "softmax")])
        with pytest.raises(ValueError, match="one output of shape"):
            bayes_classifier(model, MATRIX)

    def test_two_outputs(self):
        x = keras.Input((3,))
        heads = [layers.Dense(3, "softmax")(x), layers.Dense(3, "softmax")(x)]
        with pytest.raises(ValueError, match="one output of shape"):
            bayes_classifier(keras.Model(x, heads), MATRIX)

    @pytest.mark.parametrize("model", [None, "model", layers.Dense(3, "softmax")])
    def test_no_model(self, model):
        with pytest.raises(ValueError, match="keras.Model"):
            bayes_classifier(model, MATRIX)
