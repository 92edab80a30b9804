"""Decisions by costs that are known for each example, of every kind of model."""

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import layers

from csdl_keras import bayes_classifier, decide
from csdl_keras.costs import AffineCosts
from csdl_keras.models import expected_cost_model
from csdl_keras.prediction.probability_model import probability_model
from tests.prediction.known_costs import AFFINE, COSTS, MATRIX, PRICES, X, softmax
from tests.support.small_models import BUILDERS, Twice, functional

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
KINDS = {"matrix": PRICES, "each": COSTS, "float32": COSTS.astype("float32"), "affine": AFFINE}


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


def careful(model=None, matrix=MATRIX):
    return bayes_classifier(functional([softmax()]) if model is None else model, matrix)


def cost_model():
    body = functional([layers.Dense(5, "tanh")])
    return expected_cost_model(body, MATRIX, seed=1).cost_model()


class TestDecide:
    @pytest.mark.parametrize("costs", KINDS.values(), ids=KINDS)
    @pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
    def test_a_classifier(self, build, costs):
        model = build([softmax()])
        found = decide(model, X, costs=costs)
        np.testing.assert_array_equal(found, by_loop(model.predict(X, verbose=0), costs))
        assert (found.shape, found.dtype) == ((30,), np.int64)

    @pytest.mark.parametrize("costs", KINDS.values(), ids=KINDS)
    def test_instead_of_a_matrix_inside(self, costs):
        model = functional([softmax()])
        expected = by_loop(model.predict(X, verbose=0), costs)
        ends = keras.Input((3,))
        inner = keras.Model(ends, careful(model)(ends))
        for ending in (careful(model), inner, keras.Sequential([keras.Input((3,)), inner])):
            before = decide(ending, X)
            np.testing.assert_array_equal(decide(ending, X, costs=costs), expected)
            np.testing.assert_array_equal(decide(ending, X), before)

    def test_instead_of_estimated_costs(self):
        model = cost_model()
        p = probability_model(model).predict(X, verbose=0)
        np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-5)
        np.testing.assert_array_equal(decide(model, X, costs=COSTS), by_loop(p, COSTS))

    @settings(max_examples=30)
    @given(st.integers(0, 2**31), st.integers(2, 4), st.integers(2, 5))
    def test_ties_go_to_the_lowest_index(self, seed, classes, decisions):
        """The model outputs its inputs; costs are whole numbers, and probabilities eighths."""
        rng = np.random.default_rng(seed)
        p = rng.multinomial(8, np.ones(classes) / classes, size=20) / 8
        costs = rng.integers(0, 3, size=(20, classes, decisions))
        ends = keras.Input((classes,))
        model = keras.Model(ends, layers.Identity()(ends))
        expected = (p[:, None] @ costs)[:, 0].argmin(axis=1)
        found = decide(model, p, "probability", costs=costs)
        np.testing.assert_array_equal(found, expected)

    def test_rows_that_are_no_probabilities(self):
        model = functional([softmax(), Twice()])
        with pytest.raises(ValueError, match="sum to 1"):
            decide(model, X, "probability", costs=COSTS)
        x = np.where(np.arange(30)[:, None] == 4, np.nan, X)
        with pytest.raises(ValueError, match="finite"):
            decide(careful(), x, costs=COSTS)
