"""The scorer of any classifier, against a loop."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.linear_model import LogisticRegression

from csdl_keras.sklearn import average_cost_scorer
from tests.sklearn.fitted import LABELS, MATRIX, X, Y

AMOUNTS = st.floats(0, 100, width=32)
#: Without subnormal numbers, which some processors flush to 0.
CHANCES = st.floats(0, 1, allow_subnormal=False)
ZERO_ONE = 1 - np.eye(2)


class Decided:
    """A classifier of fixed outputs, whose `classes_` are in any order."""

    def __init__(self, classes, predictions=None, probabilities=None):
        self.classes_ = np.asarray(classes)
        self.predictions, self.probabilities = predictions, probabilities

    def predict(self, x):
        return np.asarray(self.predictions)[x]

    def predict_proba(self, x):
        return self.probabilities[x]


@settings(max_examples=150)
@given(data=st.data(), own=st.booleans(), bayes=st.booleans())
def test_minus_the_average_cost(data, own, bayes):
    """Classes are in any order; decisions may be more than classes, and named by their rule."""
    number = data.draw(st.booleans())
    one = st.integers(-9, 9) if number else st.text("abc", min_size=1)
    names = data.draw(st.lists(one, min_size=2, max_size=5, unique=True))
    size, count = data.draw(st.integers(1, 6)), len(names)
    decisions = count + data.draw(st.integers(0, 2))
    matrix = data.draw(arrays.arrays(float, (count, decisions), elements=AMOUNTS))
    np.fill_diagonal(matrix, 0)
    costs = data.draw(arrays.arrays(float, (size, decisions), elements=AMOUNTS))
    labels = data.draw(st.lists(st.integers(0, count - 1), min_size=size, max_size=size))
    decided = data.draw(st.lists(st.integers(0, decisions - 1), min_size=size, max_size=size))
    probabilities = data.draw(arrays.arrays(float, (size, count), elements=CHANCES))
    known = list(names)
    for index in range(count, decisions):
        known.append(max(names) + 1 + index - count if number else f"decision_{index}")
    model = Decided(names, [known[index] for index in decided], probabilities)
    total = 0.0
    for n, label in enumerate(labels):
        decision = int(np.argmin(probabilities[n] @ matrix)) if bayes else decided[n]
        total += costs[n, decision] if own else matrix[label, decision]
    y = np.array([names[label] for label in labels])
    given = costs if own else None
    found = average_cost_scorer(matrix, bayes)(model, np.arange(size), y, given)
    assert found == pytest.approx(-total / size)
    if own and not bayes:
        assert average_cost_scorer()(model, np.arange(size), list(y), given) == found


def test_a_classifier_of_scikit_learn():
    model = LogisticRegression().fit(X, Y)
    bayes = LABELS[(model.predict_proba(X) @ MATRIX).argmin(axis=1)]
    scorers = average_cost_scorer(MATRIX), average_cost_scorer(MATRIX, bayes=True)
    for decided, scorer in zip((model.predict(X), bayes), scorers, strict=True):
        paid = MATRIX[np.searchsorted(LABELS, Y), np.searchsorted(LABELS, decided)]
        assert scorer(model, X, Y) == pytest.approx(-paid.mean())
        assert pickle.loads(pickle.dumps(scorer))(model, X, Y) == scorer(model, X, Y)


@pytest.mark.parametrize(
    ("arguments", "y", "costs", "match"),
    [
        ({"cost_matrix": ZERO_ONE}, [0, 1, 2], None, "`y` contains .*not one of"),
        ({}, [0, 1, 0], None, "`costs` of each example are needed"),
        (
            {"bayes": True},
            [0, 1, 0],
            np.ones((3, 2)),
            "With bayes=True, a `cost_matrix` or `costs` known",
        ),
    ],
    ids=str,
)
def test_what_is_refused(arguments, y, costs, match):
    decided = Decided([0, 1], [0, 1, 1], np.full((3, 2), 0.5))
    with pytest.raises(ValueError, match=match):
        average_cost_scorer(**arguments)(decided, np.arange(3), y, costs)
