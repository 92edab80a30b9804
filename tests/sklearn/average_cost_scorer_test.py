"""The scorer of anybody's classifier, against a loop."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.linear_model import LogisticRegression

from csdl_keras.sklearn import average_cost_scorer
from tests.sklearn.fitted import LABELS, MATRIX, X, Y

CASES = settings(max_examples=200)
AMOUNTS = st.floats(0, 100, width=32)


class Decided:
    """A classifier of fixed outputs, whose `classes_` are in any order."""

    def __init__(self, classes, predictions=None, probabilities=None):
        self.classes_ = np.asarray(classes)
        self.predictions, self.probabilities = predictions, probabilities

    def predict(self, x):
        return np.asarray(self.predictions)[x]

    def predict_proba(self, x):
        return self.probabilities[x]


@st.composite
def problems(draw):
    """Classes in any order, labels, decisions, probabilities, a matrix, costs of examples."""
    classes = draw(
        st.lists(st.integers(-9, 9), min_size=2, max_size=5, unique=True)
        | st.lists(st.text("abc", min_size=1), min_size=2, max_size=5, unique=True)
    )
    size, count = draw(st.integers(1, 6)), len(classes)
    decisions = count + draw(st.integers(0, 2))
    matrix = draw(arrays.arrays(float, (count, decisions), elements=AMOUNTS))
    np.fill_diagonal(matrix, 0)
    return {
        "classes": classes,
        "labels": draw(st.lists(st.integers(0, count - 1), min_size=size, max_size=size)),
        "decided": draw(st.lists(st.integers(0, decisions - 1), min_size=size, max_size=size)),
        "probabilities": draw(arrays.arrays(float, (size, count), elements=st.floats(0, 1))),
        "matrix": matrix,
        "costs": draw(arrays.arrays(float, (size, decisions), elements=AMOUNTS)),
    }


def names_of(classes, count):
    """What decisions are called, by the rule in the documentation."""
    names = list(classes)
    for index in range(len(classes), count):
        number = isinstance(classes[0], int)
        names.append(max(classes) + 1 + index - len(classes) if number else f"decision_{index}")
    return names


@CASES
@given(problems(), st.booleans())
def test_minus_the_average_cost_of_predictions(problem, own):
    matrix, costs, names = problem["matrix"], problem["costs"], problem["classes"]
    known = names_of(names, matrix.shape[1])
    model = Decided(names, [known[index] for index in problem["decided"]])
    y = [names[label] for label in problem["labels"]]
    total = 0.0
    for n, (label, decision) in enumerate(zip(problem["labels"], problem["decided"], strict=True)):
        total += costs[n, decision] if own else matrix[label, decision]
    scorer = average_cost_scorer(matrix)
    found = scorer(model, np.arange(len(y)), np.array(y), costs if own else None)
    assert found == pytest.approx(-total / len(y))
    if own:
        assert average_cost_scorer()(model, np.arange(len(y)), y, costs) == found


@CASES
@given(problems(), st.booleans())
def test_bayes_decisions_on_probabilities(problem, own):
    matrix, costs, names = problem["matrix"], problem["costs"], problem["classes"]
    model = Decided(names, probabilities=problem["probabilities"])
    total = 0.0
    for n, label in enumerate(problem["labels"]):
        expected = problem["probabilities"][n] @ matrix
        total += (costs[n] if own else matrix[label])[int(np.argmin(expected))]
    y = [names[label] for label in problem["labels"]]
    scorer = average_cost_scorer(matrix, bayes=True)
    found = scorer(model, np.arange(len(y)), y, costs if own else None)
    assert found == pytest.approx(-total / len(y))


def test_rows_are_true_classes():
    model = Decided(["a", "b"], ["a"])
    scorer = average_cost_scorer([[0, 1], [5, 0]])
    assert scorer(model, [0], ["b"]) == -5
    assert Decided(["b", "a"], ["a"]) and scorer(Decided(["b", "a"], ["a"]), [0], ["b"]) == -1


def test_a_classifier_of_scikit_learn():
    model = LogisticRegression().fit(X, Y)
    bayes = LABELS[(model.predict_proba(X) @ MATRIX).argmin(axis=1)]
    for decided, scorer in (
        (model.predict(X), average_cost_scorer(MATRIX)),
        (bayes, average_cost_scorer(MATRIX, bayes=True)),
    ):
        paid = [
            MATRIX[list(LABELS).index(y), list(LABELS).index(d)]
            for y, d in zip(Y, decided, strict=True)
        ]
        assert scorer(model, X, Y) == pytest.approx(-np.mean(paid))
        assert pickle.loads(pickle.dumps(scorer))(model, X, Y) == scorer(model, X, Y)


def test_names_of_other_decisions():
    model = Decided([0, 1], ["ask", "ask"])
    scorer = average_cost_scorer([[0, 1, 0.25], [5, 0, 0.75]], other_decisions=["ask"])
    assert scorer(model, [0, 1], [0, 1]) == -0.5


class TestArguments:
    MODEL = Decided([0, 1], [0, 1, 1])

    @CASES
    @given(
        st.sampled_from(["negative", "nan", "infinite", "diagonal", "text", "flat", "narrow"]),
        st.integers(2, 5),
    )
    def test_wrong_matrices(self, kind, size):
        matrix = (1 - np.eye(size)).tolist()
        if kind == "diagonal":
            matrix[0][0] = 1.0
        elif kind == "flat":
            matrix = matrix[0]
        elif kind == "narrow":
            matrix = [row[:-1] for row in matrix]
        else:
            matrix[0][1] = {"negative": -1.0, "nan": np.nan, "infinite": np.inf, "text": "a"}[kind]
        with pytest.raises(ValueError, match="Expected"):
            average_cost_scorer(matrix)

    @CASES
    @given(
        st.sampled_from([-1.0, np.nan, np.inf]),
        st.integers(0, 2),
        st.integers(0, 1),
    )
    def test_wrong_costs(self, value, row, column):
        costs = np.ones((3, 2))
        costs[row, column] = value
        with pytest.raises(ValueError, match="Expected every entry of `costs`"):
            average_cost_scorer()(self.MODEL, np.arange(3), [0, 1, 0], costs)

    @pytest.mark.parametrize(
        ("arguments", "y", "costs", "match"),
        [
            ({"cost_matrix": 1 - np.eye(3)}, [0, 1, 0], None, "each of 2 classes"),
            ({"cost_matrix": 1 - np.eye(2)}, [0, 1, 2], None, "Expected `y` to be among"),
            ({"cost_matrix": 1 - np.eye(2)}, [0, 1], None, "of shape .2,., an integer for each"),
            ({}, [0, 1, 0], None, "Expected `costs` of each example"),
            ({}, [0, 1, 0], np.ones((2, 2)), "a row for each of 3 labels"),
            ({"cost_matrix": 1 - np.eye(2)}, [0, 1, 0], np.ones((3, 3)), r"shape \(N, 2\)"),
            ({"other_decisions": ["ask"]}, [0, 1, 0], np.ones((3, 2)), "to be 0 labels"),
            ({}, [0, 1, 0], np.ones((3, 1)), "Expected `predictions` to be among"),
            ({"bayes": True}, None, None, "Expected a `cost_matrix` to decide by"),
            ({"cost_matrix": 1 - np.eye(2), "bayes": 1}, None, None, "Expected `bayes`"),
        ],
        ids=str,
    )
    def test_what_is_refused(self, arguments, y, costs, match):
        with pytest.raises(ValueError, match=match):
            average_cost_scorer(**arguments)(self.MODEL, np.arange(3), y, costs)
