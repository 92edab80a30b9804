"""Networks of the user's in the estimator."""

import functools

import numpy as np
import pytest

import csdl_keras as csdl
from tests.sklearn.fitted import COSTS, LABELS, MATRIX, X, Y, estimator

pytestmark = pytest.mark.usefixtures("run_module_eagerly")

probabilities = functools.partial(csdl.models.mlp, hidden_units=(8,))
costs = functools.partial(csdl.models.mlp, output="cost", hidden_units=(8,))


def test_probabilities_decide():
    model = estimator("calibrated_bayes", network=probabilities).fit(X, Y)
    found = model.predict_proba(X)
    np.testing.assert_allclose(model.predict_cost(X), found @ MATRIX, rtol=1e-5)
    np.testing.assert_array_equal(model.predict(X), LABELS[(found @ MATRIX).argmin(axis=1)])


@pytest.mark.parametrize("own_costs", [False, True])
def test_costs_are_in_units_of_the_largest(own_costs):
    matrix, given = (None, COSTS) if own_costs else (MATRIX, None)
    model = estimator("dnn_sosr", network=costs, cost_matrix=matrix, validation_fraction=0)
    model.fit(X, Y, costs=given)
    outputs = model.model_.predict(X.astype("float32"), verbose=0)
    largest = (COSTS if own_costs else MATRIX).max()
    np.testing.assert_allclose(model.predict_cost(X), outputs * largest, rtol=1e-5)
    assert not hasattr(model, "predict_proba")


def test_mean_costs_decide_where_examples_have_their_own():
    """The cheapest decision in a class is another class here."""
    model = estimator("calibrated_bayes", network=probabilities, cost_matrix=None)
    model.fit(X, Y, costs=COSTS[:, [1, 2, 0]] + 1)
    # The means of the examples that are not held out.
    means = model.model_.get_layer("bayes_decision").get_weights()[0]
    found = model.predict_proba(X) @ means
    assert model.cost_matrix_.min() >= 1 and means.min() == 0
    np.testing.assert_allclose(means, csdl.costs.regret(model.cost_matrix_), atol=0.5)
    decided = [LABELS.tolist().index(label) for label in model.predict(X)]
    np.testing.assert_allclose(found[np.arange(90), decided], found.min(axis=1), rtol=1e-5)
