"""Labels of decisions that are no class, for classes of every dtype that scikit-learn takes."""

import functools

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import csdl_keras as csdl
from csdl_keras._utils.labels import decision_labels
from csdl_keras.sklearn import BayesClassifier, average_cost_scorer
from tests.sklearn.fitted import estimator

pd = pytest.importorskip("pandas")

X = np.random.default_rng(0).normal(size=(24, 3)).astype("float32")
# To abstain is the cheapest decision unless it is certain.
PRICED = csdl.costs.with_abstain(1 - np.eye(2), 0.2)
DAYS = np.array(["2020-01-01", "2021-06-30"], "datetime64[D]")

# Two classes, and the label beside them.
CLASSES = {
    "strings": (np.array(["cat", "dog"]), "decision_2"),
    "objects": (np.array(["cat", "dog"], object), "decision_2"),
    "days": (DAYS, "decision_2"),
    "nanoseconds": (DAYS.astype("datetime64[ns]"), "decision_2"),
    "durations": (np.array([1, 2], "timedelta64[h]"), "decision_2"),
    "bool": (np.array([False, True]), 2),
    "floats": (np.array([1.0, 7.0]), 8.0),
    "fractions": (np.array([-0.5, 0.25]), 1.25),
    "category of numbers": (pd.Categorical([3, 255]), 256),
    "category of days": (pd.Categorical(DAYS), "decision_2"),
    "nullable": (pd.array([3, 255], "UInt8"), 256),
    "pandas strings": (pd.array(["cat", "dog"], "string"), "decision_2"),
}
for dtype in ("int8", "uint8", "uint32", "int64", "uint64"):
    ends = np.array([3, np.iinfo(dtype).max], dtype)
    CLASSES[dtype] = (ends, int(ends[1]) + 1)
for dtype in ("float16", "float32", "float64"):
    CLASSES[dtype] = (np.array([0, 2048], dtype), 2049.0)


@pytest.mark.parametrize("kind", CLASSES)
def test_the_scorer_finds_what_an_estimator_predicts(kind):
    values, _ = CLASSES[kind]
    y = pd.Series(values)[[0, 1, 1, 0]]

    class Decided:
        classes_ = np.unique(np.asarray(values))

        def predict(self, x):
            return decision_labels(self.classes_, 3)[x]

    score = average_cost_scorer([[0, 1, 0.25], [5, 0, 0.75]])
    assert score(Decided(), [2, 2, 0, 1], y) == -(0.25 + 0.75 + 5 + 1) / 4


@pytest.mark.parametrize("kind,other", [("bool", None), ("days", ["abstain"])])
def test_an_estimator_that_abstains(kind, other, run_eagerly):
    values, label = CLASSES[kind]
    y = pd.Series(values)[np.arange(24) % 2]
    model = estimator(cost_matrix=PRICED, other_decisions=other).fit(X, y)
    chosen = model.predict_cost(X).argmin(axis=1)
    known = [*values, other[0] if other else label]
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
