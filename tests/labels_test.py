"""Labels of every type from training to decisions, scores, reports, plots and the server."""

import keras
import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import csdl_keras as csdl
from csdl_keras._utils.labels import label_array, positions
from csdl_keras.sklearn import BayesClassifier, CostSensitiveClassifier, average_cost_scorer
from tests.support.server import decide, exported, served

RNG = np.random.default_rng(0)
INDEX = np.arange(90) % 3
X = RNG.normal(size=(90, 2)) + 2.0 * np.eye(3, 2)[INDEX]
MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
SETTINGS = csdl.Settings().replace({"mlp.hidden_units": (8,)}).limit_epochs(2)

NAMES = np.array(["hi", "lo", "mid"])
LABELS = {
    "a list": NAMES[INDEX].tolist(),
    "pandas": pandas.Series(NAMES[INDEX], index=np.arange(90)[::-1]),
    "pandas Arrow": pandas.Series(NAMES[INDEX], dtype="string[pyarrow]"),
    "a categorical": pandas.Categorical(NAMES[INDEX], ["mid", "lo", "hi"], ordered=True),
    "Polars": polars.Series(NAMES[INDEX]),
    "Arrow in chunks": pyarrow.chunked_array([NAMES[INDEX[:40]], NAMES[INDEX[40:]]]),
    "numbers as strings": np.array(["0", "10", "2"])[INDEX],
}
INTEGERS = {
    "objects": INDEX.astype(object),
    "pandas Int64": pandas.Series(INDEX, dtype="Int64"),
    "a categorical": pandas.Categorical(INDEX),
    "Arrow": pyarrow.array(INDEX),
}


def named(matrix, names):
    """The matrix with names, in another order."""
    frame = pandas.DataFrame(matrix, index=names, columns=names)
    order = [2, 0, 1][: len(names)] if len(names) > 2 else [1, 0]
    return frame.iloc[order, order[::-1]]


pytestmark = pytest.mark.usefixtures("run_module_eagerly")


def train(y, matrix, x=X):
    part = np.arange(len(x)) % 4 == 0
    taken = pandas.Series(list(np.asarray(y)))
    validation = (x[part], taken[part])
    choices = {"validation_data": validation, "settings": SETTINGS, "seed": 0}
    return csdl.train(x, y, matrix, "dnn_bayes", **choices)


@pytest.mark.parametrize("kind", LABELS)
def test_labels_that_are_strings(kind):
    y, classes = LABELS[kind], np.unique(np.asarray(LABELS[kind]).tolist())
    model = train(y, named(MATRIX, classes))
    assert model.classes.tolist() == classes.tolist()
    decided = csdl.decide(model, X)
    labels = csdl.decide(model, X, labels=True)
    assert labels.tolist() == classes[decided].tolist()
    expected = np.mean([MATRIX[i, k] for i, k in zip(INDEX, decided, strict=True)])
    for given_classes in (model, classes, classes.tolist()):
        for chosen in (decided, labels, labels.tolist(), pandas.Series(labels)):
            for costs in (MATRIX, named(MATRIX, classes)):
                found = csdl.evaluation.average_cost(y, chosen, costs, classes=given_classes)
                assert found == pytest.approx(expected)
    report = csdl.evaluation.cost_report({"it": labels}, y, MATRIX, classes=model)
    assert report.class_names == tuple(classes)
    assert report.rows[0].average_cost == pytest.approx(expected)
    axes = csdl.plots.cost_confusion(y, labels, MATRIX, classes=model)
    assert [text.get_text() for text in axes.get_yticklabels()] == classes.tolist()
    with pytest.raises(ValueError, match="classes=model.classes"):
        csdl.evaluation.average_cost(y, decided, MATRIX)


@pytest.mark.parametrize("kind", INTEGERS)
def test_labels_that_are_integers(kind):
    y = INTEGERS[kind]
    model = train(y, named(MATRIX, [0, 1, 2]))
    same = train(INDEX, MATRIX)
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    decided = csdl.decide(model, X)
    np.testing.assert_array_equal(csdl.decide(model, X, labels=True), decided)
    expected = csdl.evaluation.average_cost(INDEX, decided, MATRIX)
    assert csdl.evaluation.average_cost(y, decided, MATRIX) == expected
    assert csdl.evaluation.average_cost(y, decided, MATRIX, classes=model) == expected
    found = csdl.evaluation.average_cost(y, decided, named(MATRIX, [0, 1, 2]), classes=[0, 1, 2])
    assert found == expected


@pytest.mark.parametrize("dtype", [bool, "boolean"])
def test_labels_that_are_booleans(dtype):
    y = pandas.Series(INDEX > 0).astype(dtype)
    costs = named([[0, 1], [9, 0]], [False, True])
    model = train(y, costs)
    labels = csdl.decide(model, X, labels=True)
    assert labels.dtype == bool
    expected = csdl.evaluation.average_cost(INDEX > 0, csdl.decide(model, X), [[0, 1], [9, 0]])
    assert csdl.evaluation.average_cost(y, labels, costs) == expected
    for wrong in (named([[0, 1], [9, 0]], [0, 1]), named([[0, 1], [9, 0]], ["False", "True"])):
        with pytest.raises(ValueError, match="classes are .False, True."):
            train(y, wrong)


def test_numbers_are_not_the_strings_of_them():
    with pytest.raises(ValueError, match=r"classes are \['0', '1', '2'\]"):
        train(np.array(["0", "1", "2"])[INDEX], named(MATRIX, [0, 1, 2]))


def test_decisions_that_are_no_class():
    priced = csdl.costs.with_abstain(MATRIX, 0.1)
    model = train(NAMES[INDEX], priced)
    labels = csdl.decide(model, X, labels=True)
    assert set(labels) <= {*NAMES, "decision_3"} and "decision_3" in labels
    decided = csdl.decide(model, X)
    expected = csdl.evaluation.average_cost(INDEX, decided, priced)
    y = NAMES[INDEX]
    assert csdl.evaluation.average_cost(y, labels, priced, classes=model) == expected
    asked = np.where(labels == "decision_3", "ask", labels)
    all_names = [*NAMES, "ask"]
    assert csdl.evaluation.average_cost(y, asked, priced, classes=all_names) == expected


class Reversed(ClassifierMixin, BaseEstimator):
    """A classifier whose classes are not in sorted order, such as CatBoost's `class_names`."""

    def __init__(self, names):
        self.names = names

    def fit(self, X, y):  # noqa: N803
        self.model_ = LogisticRegression().fit(X, y)
        self.classes_ = np.array(self.names)
        return self

    def predict(self, X):  # noqa: N803
        return self.model_.predict(X)

    def predict_proba(self, X):  # noqa: N803
        order = [list(self.model_.classes_).index(name) for name in self.names]
        return self.model_.predict_proba(X)[:, order]


@pytest.mark.parametrize("calibration", ["isotonic", "temperature"])
@pytest.mark.parametrize("names", [["lo", "mid", "hi"], ["mid", "hi"]])
def test_columns_are_those_of_the_estimator_that_made_them(calibration, names):
    sharp = X[np.isin(NAMES[INDEX], names)] * 5
    y = NAMES[INDEX][np.isin(NAMES[INDEX], names)]
    matrix = 10.0 * (1 - np.eye(len(names)))
    matrix[0] = [0.0, *[1.0] * (len(names) - 1)]
    frozen = FrozenEstimator(Reversed(names).fit(sharp, y))
    model = BayesClassifier(frozen, matrix, calibration).fit(sharp, y)
    assert model.classes_.tolist() == names
    plain = Reversed(sorted(names)).fit(sharp, y)
    ordered = pandas.DataFrame(matrix, index=names, columns=names)
    same = BayesClassifier(FrozenEstimator(plain), ordered, calibration).fit(sharp, y)
    order = [list(same.classes_).index(name) for name in names]
    np.testing.assert_allclose(model.predict_proba(sharp), same.predict_proba(sharp)[:, order])
    assert model.predict(sharp).tolist() == same.predict(sharp).tolist()
    assert model.score(sharp, y) == same.score(sharp, y)
    for bayes in (False, True):
        scores = [
            average_cost_scorer(costs, bayes)(found, sharp, y)
            for found in (model, same)
            for costs in (ordered, ordered.iloc[::-1, ::-1])
        ]
        assert len(set(scores)) == 1


def test_estimator_scorer_and_search_see_one_matrix():
    y = NAMES[INDEX]
    costs = named(MATRIX, NAMES)
    for estimator in (
        BayesClassifier(LogisticRegression(), costs),
        CostSensitiveClassifier("dnn_bayes", costs, SETTINGS, random_state=0),
    ):
        model = estimator.fit(X, y)
        np.testing.assert_array_equal(model.cost_matrix_, MATRIX)
        decided = positions("y", model.predict(X), NAMES)
        expected = -np.mean([MATRIX[i, k] for i, k in zip(INDEX, decided, strict=True)])
        assert model.score(X, y) == pytest.approx(expected)
        assert average_cost_scorer(costs)(model, X, y) == pytest.approx(expected)
        found = csdl.evaluation.average_cost(y, model.predict(X), costs, classes=model)
        assert found == pytest.approx(-expected)
    best = [
        GridSearchCV(
            BayesClassifier(LogisticRegression(), given),
            {"estimator__C": [1.0]},
            scoring=average_cost_scorer(given),
            cv=3,
        )
        .fit(X, y)
        .best_score_
        for given in (costs, MATRIX)
    ]
    assert best[0] == best[1]


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="exports by this code")
def test_a_server_answers_with_labels(tmp_path):
    model = train(NAMES[INDEX], MATRIX)
    with served(exported(model, tmp_path)) as client:
        answer = decide(client, X.tolist()).json()
    assert answer["decisions"] == csdl.decide(model, X, labels=True).tolist()


def slow_positions(labels, known):
    """Indices by a search of types and values, one by one."""
    found = []
    for label in labels:
        kinds = [isinstance(label, bool), isinstance(label, str)]
        [place] = [
            i
            for i, one in enumerate(known)
            if [isinstance(one, bool), isinstance(one, str)] == kinds and one == label
        ]
        found.append(place)
    return found


@given(data=st.data())
def test_random_labels_against_a_slow_search(data):
    text = st.text(max_size=3).filter(lambda it: "\0" not in it)  # which NumPy cuts off
    kind = data.draw(st.sampled_from([text, st.integers(-5, 300), st.booleans()]))
    known = data.draw(st.lists(kind, min_size=2, max_size=5, unique=True))
    labels = data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=8))
    holders = [list, np.array, pandas.Series, pandas.Categorical, polars.Series, pyarrow.array]
    held = data.draw(st.sampled_from(holders))(labels)
    assert positions("y", held, np.array(known)).tolist() == slow_positions(labels, known)
    assert label_array("y", held).tolist() == labels


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", float("nan"), "b"], "missing label, nan at 1"),
        (pandas.Series([0, None, 1], dtype="Int64"), "missing label"),
        (polars.Series([True, None, False]), "missing label"),
        ([True, 1, 0], "mixes bool and int"),
    ],
)
def test_labels_that_training_refuses(y, message):
    with pytest.raises(ValueError, match=message):
        csdl.train(X[:3], y, [[0, 1], [1, 0]], "dnn_bayes")
