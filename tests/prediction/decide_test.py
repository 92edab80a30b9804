"""Decisions in this process, and those of the models that output them."""

import itertools

import keras
import numpy as np
import pytest
from keras import Sequential, layers

from csdl_keras import decide
from csdl_keras.layers import BayesDecision, CostOutput, Decision
from csdl_keras.models import caffe_cifar10, decision_model, mlp
from tests.support.small_models import BUILDERS, Subclassed, Twice, functional, inputs, randomized
from tests.support.testing import TestCase, dtype_policy, to_numpy

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
X = inputs(30)
MATRIX = [[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]]
ENDINGS = {
    "softmax": (lambda: [layers.Dense(3, "softmax")], np.argmax),
    "cost": (lambda: [CostOutput(3)], np.argmin),
    "bayes": (lambda: [layers.Dense(3, "softmax"), BayesDecision(MATRIX)], np.argmin),
    "sigmoid": (lambda: [layers.Dense(1, "sigmoid")], lambda p, axis: (p > 0.5).sum(axis)),
}
WIDTH = 4
# Every row of zeros and ones, and some of three values.
TIES = np.array(
    list(itertools.product([0, 1], repeat=WIDTH))
    + [[0, 2, 2, 1], [1, -1, 2, -1], [2, 2, -1, -1], [1, 1, 1, 2]],
    "float32",
)


def identity(width: int) -> keras.Model:
    """A model that outputs its inputs, so that the inputs say what the outputs are."""
    x = keras.Input((width,))
    return keras.Model(x, layers.Identity()(x))


IDENTITY = identity(WIDTH)


def test_data_of_a_wrong_width():
    for shape, told in (((3,), r"\(N, 3\)"), ((3, 5), r"\(N, 3, 5\)"), ((), r"\(N,\)")):
        ends = keras.Input(shape)
        with pytest.raises(ValueError, match=f"Expected `x` of shape {told}; received"):
            decide(keras.Model(ends, layers.Softmax()(ends)), np.zeros((4, 7)), "probability")


class TestDecide(TestCase):
    @pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
    @pytest.mark.parametrize("ending", ENDINGS)
    def test_decides_like_numpy(self, build, ending, tmp_path, capsys):
        make, choose = ENDINGS[ending]
        model = build(make())
        if ending == "bayes":
            model.set_weights([*model.get_weights()[:-1], np.array(MATRIX)])
        expected = choose(model.predict(X, verbose=0), axis=1)
        assert len(set(expected.tolist())) > 1, "a test that every constant would pass"
        decided, by_model = decide(model, X), decision_model(model).predict(X, verbose=0)
        assert (decided.shape, decided.dtype, by_model.dtype) == ((30,), np.int64, np.int32)
        np.testing.assert_array_equal(decided, expected)
        np.testing.assert_array_equal(by_model, expected)
        if build is functional:
            decision_model(model).save(tmp_path / "model.keras")
            loaded = keras.saving.load_model(tmp_path / "model.keras")
            np.testing.assert_array_equal(loaded.predict(X, verbose=0), expected)
            np.testing.assert_array_equal(decide(model, X, batch_size=7), expected)
        assert capsys.readouterr().out == ""

    @pytest.mark.parametrize("output", ["cost", "probability"])
    def test_lowest_index_wins_ties(self, output):
        rows, choose = TIES, np.argmin
        if output == "probability":
            rows, choose = (rows + 2) / (rows + 2).sum(axis=1, keepdims=True), np.argmax
        expected = choose(rows, axis=1)  # NumPy documents that it returns the first
        np.testing.assert_array_equal(decide(IDENTITY, rows, output=output), expected)
        decided = decision_model(IDENTITY, output).predict(rows, verbose=0)
        np.testing.assert_array_equal(decided, expected)

    @pytest.mark.parametrize(
        ("model", "output", "choose"),
        [
            (functional([Twice()]), "cost", np.argmin),
            (functional([layers.Dense(3)]), "cost", np.argmin),
            (functional([layers.Softmax(), layers.Identity()]), "probability", np.argmax),
        ],
    )
    def test_explicit_output(self, model, output, choose):
        expected = choose(model.predict(X, verbose=0), axis=1)
        np.testing.assert_array_equal(decide(model, X, output=output), expected)
        decided = decision_model(model, output=output).predict(X, verbose=0)
        np.testing.assert_array_equal(decided, expected)

    def test_other_models(self):
        subclassed = Subclassed(3)
        expected = subclassed.predict(X, verbose=0).argmin(axis=1)
        np.testing.assert_array_equal(decide(subclassed, X, output="cost"), expected)
        assert decide(functional([CostOutput(1)]), X).tolist() == [0] * 30
        images = randomized(caffe_cifar10((8, 8, 1), 3, output="cost"))
        x = np.random.default_rng(0).uniform(size=(4, 8, 8, 1)).astype("float32")
        np.testing.assert_array_equal(decide(images, x), images.predict(x, verbose=0).argmin(1))

    def test_values_of_costs(self):
        rows = np.array([[0.25, 0.75], [1.0, 0.0]], "float32")  # two costs may sum to 1
        assert decide(identity(2), rows, output="cost").tolist() == [0, 1]
        rows = np.array([[np.inf, 1.0, np.inf, 2.0], [0.0, -np.inf, -np.inf, 1.0]], "float32")
        assert decide(IDENTITY, rows, output="cost").tolist() == [1, 1]

    @pytest.mark.parametrize("rows", [np.full((5, WIDTH), 1 / WIDTH), np.eye(WIDTH)])
    def test_values_contradict_an_explicit_output(self, rows):
        with pytest.raises(ValueError, match="which are probabilities"):
            decide(IDENTITY, rows.astype("float32"), output="cost")
        with pytest.raises(ValueError, match="logits are neither"):
            decide(IDENTITY, 3.0 * rows.astype("float32"), output="probability")

    @pytest.mark.parametrize(
        ("layer", "output", "match"),
        [
            (layers.Dense(3), None, "output='cost' or output='probability'"),
            (layers.Dense(3), "probability", "gives no probabilities"),
            (layers.Dense(3), "costs", "`output`"),
            (layers.Dense(3), 1, "`output`"),
            (layers.Dense(3, "softmax"), "cost", "received output='cost'.*outputs probabilities"),
            (CostOutput(3), "probability", "received output='probability'.*outputs costs"),
        ],
    )
    def test_wrong_outputs(self, layer, output, match):
        with pytest.raises(ValueError, match=match):
            decide(functional([layer]), X, output=output)

    def test_costs_trained_as_logits(self):
        model = functional([layers.Dense(3)])
        model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        with pytest.raises(ValueError, match="trains scores of classes"):
            decide(model, X, output="cost")

    def test_nan(self):
        x = X.copy()
        x[4:6, 0] = np.nan
        for ending in ("softmax", "cost", "sigmoid"):
            model = functional(ENDINGS[ending][0]())
            with pytest.raises(ValueError, match="NaN in 2 of 30 rows"):
                decide(model, x)
            decided = to_numpy(decision_model(model)(x))
            assert np.flatnonzero(decided == -1).tolist() == [4, 5]


class TestDecisionModel:
    def test_shares_layers(self):
        model = mlp((3,), 3, (4,), output="cost")
        deciding = decision_model(model)
        assert deciding.name == "mlp_decision"
        assert isinstance(deciding.layers[-1], Decision)
        for layer in model.layers:
            assert deciding.get_layer(layer.name) is layer

    def test_mixed_precision(self):
        with dtype_policy("mixed_float16"):
            model = functional([layers.Dense(3, "softmax")])
            decided = decision_model(model).predict(X, verbose=0)
        np.testing.assert_array_equal(decided, decide(model, X))

    @pytest.mark.parametrize(
        ("model", "output", "match"),
        [
            (functional([layers.Dense(3)]), None, "output='cost'"),
            (Subclassed(3), "cost", "Wrap it"),
            (Sequential([layers.Dense(3)]), "cost", "Wrap it"),
        ],
    )
    def test_errors(self, model, output, match):
        with pytest.raises(ValueError, match=match):
            decision_model(model, output)
