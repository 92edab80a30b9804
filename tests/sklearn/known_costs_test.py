"""Costs that are known when deciding, in the estimator, against literal loops."""

import numpy as np
import pytest

import csdl_keras as csdl
from tests.sklearn import fitted as shared
from tests.sklearn.fitted import AFFINE, COSTS, EXPANDED, LABELS, MATRIX, X, Y, estimator, fitted

pytestmark = pytest.mark.usefixtures("run_module_eagerly")

ABSTAIN = csdl.costs.with_abstain(MATRIX, price=0.6)
KNOWN = {"one matrix": MATRIX[::-1, ::-1], "affine": AFFINE, "abstain": ABSTAIN}


def of_example(costs, n):
    """The cost matrix of one example."""
    return EXPANDED[n] if costs is AFFINE or costs.ndim == 3 else costs


def loop(probabilities, costs):
    return shared.expected(probabilities, lambda n: of_example(costs, n))


@pytest.mark.parametrize("kind", KNOWN)
@pytest.mark.parametrize("name", ["dnn_bayes", "cost_model"])
def test_decisions_by_known_costs(name, kind):
    model, costs = fitted(name), KNOWN[kind]
    expected = loop(model.predict_proba(X), costs)
    np.testing.assert_allclose(model.predict_cost(X, costs=costs), expected, rtol=1e-6)
    chosen = expected.argmin(axis=1)
    assert 3 in chosen if kind == "abstain" else len(set(chosen)) > 1
    names = np.array([*LABELS, "decision_3"])
    np.testing.assert_array_equal(model.predict(X, costs=costs), names[chosen])
    paid = [of_example(costs, n)[shared.INDICES[n], k] for n, k in enumerate(chosen)]
    weights = np.arange(90.0)
    if costs is not AFFINE:
        costs = np.tile(costs, (90, 1, 1))
    assert model.score(X, Y, costs=costs) == pytest.approx(-np.mean(paid))
    found = model.score(X, Y, costs=costs, sample_weight=weights)
    assert found == pytest.approx(-np.sum(weights * paid) / weights.sum())


@pytest.mark.parametrize("name,costs", [("cost_model", AFFINE), ("calibrated_bayes", EXPANDED)])
def test_fit_with_known_costs_decides_by_their_mean(name, costs):
    model = estimator(name, cost_matrix=None).fit(X, Y, costs=costs)
    mean = sum(EXPANDED) / 90
    np.testing.assert_allclose(model.cost_matrix_, mean)
    expected = loop(model.predict_proba(X), mean)
    np.testing.assert_allclose(model.predict_cost(X), expected, rtol=1e-6)
    np.testing.assert_array_equal(model.predict(X), LABELS[expected.argmin(axis=1)])
    by_own = loop(model.predict_proba(X), AFFINE).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(X, costs=costs), LABELS[by_own])
    with pytest.raises(ValueError, match="`costs` of each example are needed"):
        model.score(X, Y)


def test_algorithms_without_probabilities():
    name = "csosr"
    match = "estimates costs directly, so it does not support costs known when deciding"
    with pytest.raises(ValueError, match=match):
        fitted(name).predict(X, costs=AFFINE)
    with pytest.raises(ValueError, match=match):
        fitted(name).score(X, Y, costs=EXPANDED)
    with pytest.raises(ValueError, match=match):
        estimator(name, cost_matrix=None).fit(X, Y, costs=AFFINE)
    assert fitted(name).score(X, Y, costs=COSTS) <= 0
