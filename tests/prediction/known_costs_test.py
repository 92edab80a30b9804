"""Decisions by costs that are known for each example, of every kind of model."""

import keras
import numpy as np
import pytest
from keras import layers

import csdl_keras as csdl
from csdl_keras import bayes_classifier, decide
from csdl_keras.costs import AffineCosts
from tests.support.small_models import functional, inputs
from tests.support.testing import TestCase

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
X = inputs(30)
RNG = np.random.default_rng(0)
MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
COSTS = RNG.uniform(0, 9, size=(30, 3, 4))
PRICES = np.array([[0.0, 3.0, 1.0, 0.5], [1.0, 0.0, 6.0, 0.5], [2.0, 2.0, 0.0, 0.1]])
AFFINE = AffineCosts(RNG.uniform(1, 9, size=30), PRICES, PRICES[::-1])
KINDS = {"matrix": PRICES, "each": COSTS, "float32": COSTS.astype("float32"), "affine": AFFINE}


def classifier():
    return functional([layers.Dense(3, "softmax")])


def by_loop(probabilities: np.ndarray, costs) -> np.ndarray:
    """The decisions, one sum after another."""
    found = []
    for n, row in enumerate(probabilities.astype("float64")):
        if isinstance(costs, AffineCosts):
            matrix = costs.fixed + costs.amount[n] * costs.per_unit
        else:
            matrix = costs if np.ndim(costs) == 2 else costs[n]
        expected = [
            sum(row[y] * float(matrix[y][k]) for y in range(len(row)))
            for k in range(len(matrix[0]))
        ]
        found.append(expected.index(min(expected)))
    assert len(set(found)) > 1, "a test that every constant would pass"
    return np.array(found)


@pytest.mark.parametrize("costs", KINDS.values(), ids=KINDS)
def test_a_classifier_and_instead_of_a_matrix_inside(costs):
    model, ends = classifier(), keras.Input((3,))
    expected = by_loop(model.predict(X, verbose=0), costs)
    careful = bayes_classifier(model, MATRIX)
    inner = keras.Model(ends, careful(ends))
    before = decide(careful, X)
    for one in (model, careful, keras.Sequential([keras.Input((3,)), inner])):
        found = decide(one, X, costs=costs)
        np.testing.assert_array_equal(found, expected)
        assert (found.shape, found.dtype) == ((30,), np.int64)
    np.testing.assert_array_equal(decide(careful, X), before)


class TestCostInput(TestCase):
    def make(self):
        return bayes_classifier(classifier(), cost_input=True, num_decisions=4)

    def test_expected_costs(self, tmp_path):
        model, p = self.make(), classifier().predict(X, verbose=0)
        assert model.output_shape == (None, 4) and csdl.output_kind(model) == "cost"
        assert [end.shape for end in model.inputs] == [(None, 3), (None, 3, 4)]
        model.save(tmp_path / "model.keras")
        expected = (p[:, None] @ COSTS)[:, 0]
        for one in (model, keras.saving.load_model(tmp_path / "model.keras")):
            self.assertAllClose(one.predict([X, COSTS], verbose=0), expected)
            by = expected.argmin(axis=1)
            np.testing.assert_array_equal(decide(one, [X, COSTS]), by)
            np.testing.assert_array_equal(decide(one, X, costs=COSTS), by)
            found = decide(one, X, costs=AFFINE)
            np.testing.assert_array_equal(found, decide(classifier(), X, costs=AFFINE))

    @pytest.mark.parametrize("keys", [("left", "right"), None])
    def test_several_inputs(self, keys):
        ends = [keras.Input((3,), name=name) for name in ("left", "right")]
        structure = dict(zip(keys, ends, strict=True)) if keys else ends
        network = keras.Model(structure, layers.Dense(3, "softmax")(layers.Concatenate()(ends)))
        x = dict(zip(keys, (X, -X), strict=True)) if keys else [X, -X]
        model = bayes_classifier(network, cost_input=True, num_decisions=4)
        both = {**x, "cost_matrix": COSTS} if keys else [*x, COSTS]
        expected = (network.predict(x, verbose=0)[:, None] @ COSTS)[:, 0]
        self.assertAllClose(model.predict(both, verbose=0), expected)
        np.testing.assert_array_equal(decide(model, x, costs=COSTS), expected.argmin(axis=1))

    @pytest.mark.parametrize("wrong", [np.inf, -1.0])
    def test_wrong_costs_raise_in_predict(self, wrong):
        costs, model = COSTS.copy(), self.make()
        costs[7, 2, 1] = wrong
        for call in (lambda x: model.predict(x, verbose=0), lambda x: decide(model, x)):
            with pytest.raises(ValueError, match="1 of 30 rows.*costs that are inputs"):
                call([X, costs])
