"""Tests of class probabilities with costs that depend on the example."""

import keras
import numpy as np
import pytest

from csdl_keras import costs, decide, output_kind
from csdl_keras.models import expected_cost_model, labelled_costs
from tests.support import loss_loops as loops
from tests.support.small_models import FEATURES, inputs
from tests.support.testing import TestCase, to_numpy

X = inputs(30)
RNG = np.random.default_rng(0)
LABELS = np.arange(30) % 3
MATRIX = np.array([[0.0, 1.0, 4.0, 0.5], [9.0, 0.0, 2.0, 0.5], [0.5, 7.0, 0.0, 0.5]])
COSTS = MATRIX[LABELS] * RNG.uniform(0.5, 1.5, size=(30, 1))
MEANS = costs.class_means(LABELS, COSTS)

pytestmark = pytest.mark.usefixtures("run_module_eagerly")


def body(units=6):
    end = keras.Input((FEATURES,))
    return keras.Model(end, keras.layers.Dense(units, "tanh")(end))


def made(moved=True, rank=None):
    """A model, with random weights if they have `moved`."""
    model = expected_cost_model(body(), MEANS, rank=rank)
    for weight in model.trainable_weights if moved else ():
        weight.assign(RNG.normal(scale=0.3, size=weight.shape))
    return model


class TestExpectedCostModel(TestCase):
    @pytest.mark.parametrize("rank", [None, 2])
    def test_equals_numpy(self, rank):
        model = made(rank=rank)
        outputs = {name: to_numpy(value) for name, value in model(X).items()}
        p, log_costs = outputs["probability"], outputs["class_costs"]
        self.assertAllClose(p.sum(axis=1), np.ones(30))
        amounts = np.exp(log_costs.astype("float64"))
        assert np.all(amounts[:, MEANS == 0] == 0) and np.all(amounts[:, MEANS > 0] > 0)
        expected = np.einsum("ny,nyk->nk", p, amounts)
        self.assertAllClose(outputs["expected_cost"], expected, rtol=1e-4)
        costs_alone = model.cost_model()
        assert output_kind(costs_alone) == "cost"
        np.testing.assert_array_equal(decide(costs_alone, X), expected.argmin(axis=1))

    def test_loss(self):
        weight, model = 0.25, made()
        model.compile("sgd", **model.losses_and_weights(weight))
        outputs = {name: to_numpy(value) for name, value in model(X).items()}
        logs = model.evaluate(X, labelled_costs(LABELS, COSTS), verbose=0, return_dict=True)
        likelihood = -np.log(outputs["probability"][np.arange(30), LABELS]).mean()
        joined = np.column_stack([LABELS, COSTS])
        deviance = loops.observed(joined, outputs["class_costs"]).mean()
        self.assertAllClose(logs["loss"], likelihood + weight * deviance, rtol=1e-4)

    def test_deciding_by_the_model_of_training_names_the_right_one(self):
        with pytest.raises(ValueError, match=r"cost_model\(\)"):
            decide(made(), X)
