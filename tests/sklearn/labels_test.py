"""Labels of decisions that are no class, and costs under the names of classes."""

import functools

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import csdl_keras as csdl
from csdl_keras.sklearn import BayesClassifier, average_cost_scorer
from tests.sklearn.fitted import estimator

pd = pytest.importorskip("pandas")

X = np.random.default_rng(0).normal(size=(24, 3)).astype("float32")
# To abstain is the cheapest decision unless it is certain.
PRICED = csdl.costs.with_abstain(1 - np.eye(2), 0.2)
DAYS = np.array(["2020-01-01", "2021-06-30"], "datetime64[D]")


@pytest.mark.parametrize(
    "values,label,other", [([False, True], 2, None), (DAYS, "abstain", ["abstain"])]
)
def test_an_estimator_that_abstains(values, label, other, run_eagerly):
    y = pd.Series(values)[np.arange(24) % 2]
    model = estimator(cost_matrix=PRICED, other_decisions=other).fit(X, y)
    chosen = model.predict_cost(X).argmin(axis=1)
    known = [*values, label]
    assert model.predict(X).tolist() == [known[place] for place in chosen]
    assert 2 in chosen and model.predict_proba(X).shape == (24, 2)
    assert model.score(X, y) == average_cost_scorer(PRICED, False, other)(model, X, y)


@pytest.mark.parametrize("wraps", [False, True])
def test_costs_are_found_by_the_names_of_classes(wraps):
    x, y = np.repeat(X, 2, axis=0), np.tile(["lo", "mid", "hi"], 16)
    costs, natural = np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0]]), ["lo", "mid", "hi"]
    named = pd.DataFrame(costs, natural, natural)
    make = functools.partial(BayesClassifier, GaussianNB()) if wraps else estimator
    model = make(cost_matrix=named).fit(x, y)
    np.testing.assert_array_equal(model.cost_matrix_, [[0, 5, 6], [2, 0, 1], [4, 3, 0]])
    with pytest.raises(
        ValueError, match="columns .'a', 'b', 'c'.; the classes are .'hi', 'lo', 'mid'"
    ):
        make(cost_matrix=named.set_axis(list("abc"), axis=1)).fit(x, y)
