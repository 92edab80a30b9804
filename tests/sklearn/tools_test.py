"""The estimator within scikit-learn's tools."""

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from csdl_keras.sklearn import BayesClassifier, CostSensitiveClassifier, average_cost_scorer
from tests.sklearn.fitted import COSTS, LABELS, MATRIX, SETTINGS, X, Y, estimator

FOLDS = StratifiedKFold(3)
TESTS = [test for _, test in FOLDS.split(X, Y)]


BY_LABEL = MATRIX[np.searchsorted(LABELS, Y)]


def average(model, rows, costs):
    """Minus what the decisions of `rows` cost on average."""
    return -costs[rows, np.searchsorted(LABELS, model.predict(X[rows]))].mean()


@pytest.fixture
def routing():
    """Lets scikit-learn pass costs of examples on."""
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_cross_validation_scores_by_cost():
    for scorer in (None, average_cost_scorer(MATRIX)):
        found = cross_validate(
            estimator("csosr"), X, Y, cv=FOLDS, scoring=scorer, return_estimator=True
        )
        for fitted, score, test in zip(found["estimator"], found["test_score"], TESTS, strict=True):
            assert score == pytest.approx(average(fitted, test, BY_LABEL))


def test_a_search_over_algorithms(run_eagerly):
    grid = {"algorithm": ["dnn_bayes", "csosr"]}
    search = GridSearchCV(estimator(), grid, cv=2, error_score="raise").fit(X, Y)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"]) <= 0
    assert search.best_params_ == {"algorithm": search.best_estimator_.algorithm}
    assert search.score(X, Y) == pytest.approx(average(search, range(90), BY_LABEL))


class TestRouting:
    def model(self):
        """An estimator that asks for the costs of examples."""
        model = estimator("csosr", cost_matrix=None)
        return model.set_fit_request(costs=True).set_score_request(costs=True)

    def test_costs_of_examples_reach_fit_and_score(self, routing):
        given = {"params": {"costs": COSTS}, "return_estimator": True, "error_score": "raise"}
        found = cross_validate(self.model(), X, Y, cv=FOLDS, **given)
        for fitted, score, (train, test) in zip(
            found["estimator"], found["test_score"], FOLDS.split(X, Y), strict=True
        ):
            assert score == pytest.approx(average(fitted, test, COSTS))
            alone = estimator("csosr", cost_matrix=None).fit(X[train], Y[train], costs=COSTS[train])
            np.testing.assert_array_equal(fitted.predict(X), alone.predict(X))

    def test_a_search_and_a_pipeline(self, routing):
        pipeline = make_pipeline(StandardScaler(), self.model())
        settings = "costsensitiveclassifier__settings"
        grid = {settings: [SETTINGS, SETTINGS.replace({"svm.penalty": 9.0})]}
        search = GridSearchCV(pipeline, grid, cv=FOLDS, error_score="raise")
        score = search.fit(X, Y, costs=COSTS).score(X, Y, costs=COSTS)
        assert score == pytest.approx(average(search, range(90), COSTS))

    def test_costs_reach_the_scorer(self, routing):
        scorers = {
            "own": average_cost_scorer().set_score_request(costs="prices"),
            "mean": average_cost_scorer(MATRIX),
        }
        model = estimator("csosr").set_fit_request(costs=False)
        given = {"params": {"prices": COSTS}, "return_estimator": True, "error_score": "raise"}
        found = cross_validate(model, X, Y, cv=FOLDS, scoring=scorers, **given)
        for index, (fitted, test) in enumerate(zip(found["estimator"], TESTS, strict=True)):
            assert found["test_own"][index] == pytest.approx(average(fitted, test, COSTS))
            assert found["test_mean"][index] == pytest.approx(average(fitted, test, BY_LABEL))


@pytest.mark.parametrize("kind", [CostSensitiveClassifier, BayesClassifier])
def test_a_refused_fit_changes_nothing(kind):
    arguments = {"settings": SETTINGS} if kind is CostSensitiveClassifier else {}
    first = GaussianNB() if kind is BayesClassifier else "dnn_bayes"
    model = kind(first, **arguments)
    with pytest.raises(ValueError):
        model.fit(X, Y, costs=np.ones((5, 3)))
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError):
        model.fit(X, np.arange(90) % 2, costs=np.ones((90, 3, 3)))
    np.testing.assert_array_equal(model.predict(X), before)
