import itertools

import keras
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from keras import layers

from csdl_keras import decide, decision_model
from csdl_keras.layers import CostOutput
from csdl_keras.models import bayes_classifier, caffe_cifar10, mlp
from tests.support.small_models import FEATURES, Subclassed, functional, inputs, randomized
from tests.support.testing import TestCase

X = inputs(30)
MATRIX = [[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]]
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
DECIDING = {output: decision_model(IDENTITY, output) for output in ("cost", "probability")}


def decided_by_loop(rows: np.ndarray, output: str) -> list[int]:
    """The first index that no later one beats, one comparison at a time."""
    decisions = []
    for row in rows:
        best = 0
        for k in range(1, len(row)):
            better = row[k] < row[best] if output == "cost" else row[k] > row[best]
            best = k if better else best
        decisions.append(best)
    return decisions


def models() -> dict[str, keras.Model]:
    softmax = randomized(mlp((FEATURES,), 3, (8,), "tanh"))
    return {
        "softmax": softmax,
        "cost": randomized(mlp((FEATURES,), 3, (8,), "tanh", output="cost")),
        "bayes": bayes_classifier(softmax, MATRIX),
        "sigmoid": functional([layers.Dense(5, "tanh"), layers.Dense(1, "sigmoid")]),
    }


class TestDecide(TestCase):
    @pytest.mark.parametrize("name", models())
    def test_equals_the_decision_model(self, name):
        model = models()[name]
        decided = decide(model, X)
        assert (decided.shape, decided.dtype) == ((30,), np.int64)
        assert len(set(decided.tolist())) > 1
        np.testing.assert_array_equal(decided, decision_model(model).predict(X, verbose=0))

    def test_argmin_of_costs_and_argmax_of_probabilities(self):
        network = models()
        outputs = {name: model.predict(X, verbose=0) for name, model in network.items()}
        for name, choose in (("cost", np.argmin), ("bayes", np.argmin), ("softmax", np.argmax)):
            np.testing.assert_array_equal(decide(network[name], X), choose(outputs[name], axis=1))
        expected = outputs["sigmoid"][:, 0] > 0.5
        np.testing.assert_array_equal(decide(network["sigmoid"], X), expected)

    @settings(max_examples=10)
    @given(
        rows=hnp.arrays(
            "float32",
            (20, WIDTH),
            elements=st.one_of(
                st.integers(-1, 1), st.floats(width=32, allow_nan=False, allow_subnormal=False)
            ),
        )
    )
    @example(rows=TIES)
    def test_lowest_index_wins_ties_of_costs(self, rows):
        self.check_identity(rows, "cost")

    @settings(max_examples=10)
    @given(rows=hnp.arrays("float32", (20, WIDTH), elements=st.integers(1, 4)))
    def test_lowest_index_wins_ties_of_probabilities(self, rows):
        self.check_identity(rows / rows.sum(axis=1, keepdims=True), "probability")

    def check_identity(self, rows, output):
        decided = decide(IDENTITY, rows, output=output)
        assert decided.tolist() == decided_by_loop(rows, output)
        np.testing.assert_array_equal(decided, DECIDING[output].predict(rows, verbose=0))

    def test_explicit_output_of_a_linear_model(self):
        model = functional([layers.Dense(3)])
        expected = model.predict(X, verbose=0).argmin(axis=1)
        np.testing.assert_array_equal(decide(model, X, output="cost"), expected)
        with pytest.raises(ValueError, match="gives no probabilities"):
            decide(model, X, output="probability")

    def test_the_structure_goes_before_an_explicit_output(self):
        with pytest.raises(ValueError, match="received output='cost'.*outputs probabilities"):
            decide(models()["softmax"], X, output="cost")
        with pytest.raises(ValueError, match="received output='probability'.*outputs costs"):
            decide(models()["cost"], X, output="probability")

    @pytest.mark.parametrize("rows", [np.full((5, WIDTH), 1 / WIDTH), np.eye(WIDTH)])
    def test_values_go_before_an_explicit_output(self, rows):
        with pytest.raises(ValueError, match="which are probabilities"):
            decide(IDENTITY, rows.astype("float32"), output="cost")
        with pytest.raises(ValueError, match="logits are neither"):
            decide(IDENTITY, 3.0 * rows.astype("float32"), output="probability")

    def test_two_costs_may_sum_to_1(self):
        rows = np.array([[0.25, 0.75], [1.0, 0.0]], "float32")
        assert decide(identity(2), rows, output="cost").tolist() == [0, 1]

    def test_costs_trained_as_logits(self):
        model = functional([layers.Dense(3)])
        model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        with pytest.raises(ValueError, match="trains scores of classes"):
            decide(model, X, output="cost")

    def test_subclassed_model_with_explicit_output(self):
        model = Subclassed(3)
        expected = model.predict(X, verbose=0).argmin(axis=1)
        np.testing.assert_array_equal(decide(model, X, output="cost"), expected)

    def test_one_column_of_costs_has_one_decision(self):
        assert decide(functional([CostOutput(1)]), X).tolist() == [0] * 30

    @pytest.mark.parametrize("batch_size", [1, 7, 100])
    def test_batch_size(self, batch_size):
        model = models()["cost"]
        np.testing.assert_array_equal(decide(model, X, batch_size=batch_size), decide(model, X))

    def test_images(self):
        model = randomized(caffe_cifar10((8, 8, 1), 3, output="cost"))
        x = np.random.default_rng(0).uniform(size=(4, 8, 8, 1)).astype("float32")
        np.testing.assert_array_equal(decide(model, x), decision_model(model).predict(x, verbose=0))

    @pytest.mark.parametrize("name", models())
    def test_same_after_saving(self, name, tmp_path):
        model = models()[name]
        model.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        np.testing.assert_array_equal(decide(loaded, X), decide(model, X))

    def test_is_silent(self, capsys):
        decide(models()["cost"], X)
        assert capsys.readouterr().out == ""


class TestWrongOutputs(TestCase):
    def test_linear_model_raises_and_names_the_argument(self):
        with pytest.raises(ValueError, match="output='cost' or output='probability'"):
            decide(functional([layers.Dense(3)]), X)

    @pytest.mark.parametrize("output", ["costs", "logits", "", 1])
    def test_unknown_output(self, output):
        with pytest.raises(ValueError, match="`output`"):
            decide(models()["cost"], X, output=output)

    @pytest.mark.parametrize("name", ["softmax", "cost", "sigmoid"])
    def test_nan(self, name):
        x = X.copy()
        x[4:6, 0] = np.nan
        with pytest.raises(ValueError, match="NaN in 2 of 30 rows"):
            decide(models()[name], x)

    def test_infinite_costs_are_no_nan(self):
        rows = np.array([[np.inf, 1.0, np.inf, 2.0], [0.0, -np.inf, -np.inf, 1.0]], "float32")
        assert decide(IDENTITY, rows, output="cost").tolist() == [1, 1]

    def test_outputs_of_three_dimensions(self):
        model = functional([layers.Reshape((FEATURES, 1)), layers.Dense(2, "softmax")])
        with pytest.raises(ValueError, match=r"shape \(N, D\)"):
            decide(model, X)
