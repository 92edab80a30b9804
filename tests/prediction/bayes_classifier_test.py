import keras
import numpy as np
import pytest
from keras import Sequential, layers

from csdl_keras import calibrate, decide, output_kind
from csdl_keras.layers import BayesDecision, CostOutput
from csdl_keras.models import BayesClassifier, bayes_classifier, mlp
from tests.support.small_models import BUILDERS, Subclassed, Twice, functional, inputs, nested
from tests.support.testing import TestCase, dtype_policy, to_numpy

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
WITH_ABSTAIN = np.hstack([MATRIX, np.full((3, 1), 0.75)])
BINARY = np.array([[0.0, 1.0], [5.0, 0.0]])
X = inputs(6)
RNG = np.random.default_rng(0)
IMAGES = RNG.uniform(0, 255, size=(12, 32, 32, 3)).astype("float32")
TOKENS = RNG.integers(50, size=(30, 8)).astype("int32")


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

    def test_costs_move_the_threshold(self):
        # Class 1 costs less from P(y=1) > 1/6 on, where 5 P(y=1) > 1 P(y=0).
        p = np.array([[0.0], [0.16], [0.17], [0.5], [1.0]], "float32")
        x = keras.Input((1,))
        careful = bayes_classifier(keras.Model(x, layers.Identity()(x)), BINARY)
        assert careful.predict(p, verbose=0).argmin(axis=1).tolist() == [0, 0, 1, 1, 1]

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

    @pytest.mark.filterwarnings("ignore:When providing `inputs` as a dict")
    @pytest.mark.parametrize("keys", [("left", "right"), None])
    def test_two_inputs(self, keys):
        def pair(one, two):
            return dict(zip(keys, (one, two), strict=True)) if keys else [one, two]

        first, second = keras.Input((3,), name="a"), keras.Input((3,), name="b")
        outputs = softmax_layer()(layers.Concatenate()([first, second]))
        self.check(keras.Model(pair(first, second), outputs), pair(X, -2 * X))


# The network, inputs, number of labels, a policy and whether outputs are logits.
NETWORKS = {
    "MobileNetV3Small": (IMAGES, 5, "softmax", "float32"),
    "text, softmax": (TOKENS, 5, "softmax", "mixed_bfloat16"),
    "text, sigmoid": (TOKENS, 1, "sigmoid", "float32"),
    "text, logits": (TOKENS, 5, None, "float32"),
    "text, one logit": (TOKENS, 1, None, "mixed_bfloat16"),
}


def make_network(name):
    """Returns a classifier that no model of the package made, its data, matrix and arguments."""
    keras.utils.set_random_seed(0)
    x, units, activation, policy = NETWORKS[name]
    with dtype_policy(policy):
        if x is IMAGES:
            network = keras.applications.MobileNetV3Small(
                input_shape=(32, 32, 3), weights=None, classes=5, minimalistic=True, alpha=0.35
            )
        else:
            embedding = layers.Embedding(50, 8, mask_zero=True, embeddings_initializer="normal")
            parts = [embedding, layers.GlobalAveragePooling1D(), layers.Dense(units, activation)]
            network = keras.Sequential([keras.Input((None,), dtype="int32"), *parts])
    labels = np.arange(len(x)) % max(units, 2)
    matrix = BINARY if units == 1 else RNG.uniform(1, 9, size=(5, 5)) * (1 - np.eye(5))
    return network, x, labels, matrix, {} if activation else {"from_logits": True}


class TestAnyNetwork(TestCase):
    @pytest.mark.parametrize("name", NETWORKS)
    def test_calibrated_saved_and_loaded(self, name, tmp_path):
        network, x, labels, matrix, arguments = make_network(name)
        policy = NETWORKS[name][-1]
        with dtype_policy(policy):
            calibrated = calibrate(network, x, labels, **arguments)
            careful = bayes_classifier(calibrated, matrix)
        # 16 bits may round otherwise in the smaller graph of the network alone.
        atol = 1e-4 if policy == "float32" else 0.05 * matrix.max()

        p = probabilities(network.predict(x, verbose=0), **arguments)
        temperature = next(
            to_numpy(weight) for weight in calibrated.weights if "temperature" in weight.path
        )
        powers = np.maximum(p, 1e-30) ** (1 / temperature)
        expected = powers / powers.sum(axis=1, keepdims=True) @ matrix
        costs = careful.predict(x, verbose=0)
        assert costs.dtype == np.float32
        self.assertAllClose(costs, expected, atol=atol)
        np.testing.assert_array_equal(decide(careful, x), costs.argmin(axis=1))

        careful.save(tmp_path / "careful.keras")
        loaded = keras.saving.load_model(tmp_path / "careful.keras")
        self.assertAllClose(loaded.predict(x, verbose=0), costs)
        assert output_kind(loaded) == "cost"

    @pytest.mark.parametrize("name", ["text, softmax", "text, one logit"])
    def test_costs_first_and_calibrated_after_loading(self, name, tmp_path):
        network, x, labels, matrix, arguments = make_network(name)
        calibrated = calibrate(network, x, labels, **arguments)
        expected = bayes_classifier(calibrated, matrix).predict(x, verbose=0)
        bayes_classifier(network, matrix, **arguments).save(tmp_path / "careful.keras")
        loaded = keras.saving.load_model(tmp_path / "careful.keras")
        found = calibrate(loaded, x, labels).predict(x, verbose=0)
        self.assertAllClose(found, expected, atol=0.01 * matrix.max())

    def test_trains_on(self):
        """The careful model follows when its network is trained."""
        network, x, labels, matrix, _ = make_network("text, softmax")
        careful = bayes_classifier(network, matrix)
        before = careful.predict(x, verbose=0)
        network.compile(keras.optimizers.SGD(1.0), "sparse_categorical_crossentropy")
        network.fit(x, labels, epochs=1, verbose=0)
        after = careful.predict(x, verbose=0)
        assert np.abs(after - before).max() > 1e-3


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

    def test_probabilities_are_no_logits(self):
        with pytest.raises(ValueError, match="outputs logits .*outputs probabilities"):
            bayes_classifier(functional([softmax_layer()]), MATRIX, from_logits=True)

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

    def test_nan_input_raises_in_predict(self):
        x = np.where(np.arange(6)[:, None] == 2, np.nan, X)
        with pytest.raises(ValueError, match="sum to 1; received 1 of 6 rows"):
            bayes_classifier(functional([softmax_layer()]), MATRIX).predict(x, verbose=0)

    @pytest.mark.parametrize(
        "matrix", [BINARY, MATRIX[:, :2], MATRIX - 1, MATRIX + 1, MATRIX[0], None]
    )
    def test_wrong_matrix(self, matrix):
        with pytest.raises(ValueError, match="`cost_matrix`"):
            bayes_classifier(functional([softmax_layer()]), matrix)

    def test_one_unit_needs_two_rows(self):
        with pytest.raises(ValueError, match="2 classes"):
            bayes_classifier(functional([layers.Dense(1, "sigmoid")]), MATRIX)

    def test_outputs_of_other_shapes(self):
        x = keras.Input((3,))
        two = keras.Model(x, [softmax_layer()(x), softmax_layer()(x)])
        single = functional([layers.Dense(1), layers.Reshape(())])
        for model in (single, two):
            with pytest.raises(ValueError, match="one output of shape"):
                bayes_classifier(model, MATRIX)

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
