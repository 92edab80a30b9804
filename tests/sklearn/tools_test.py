"""The estimators within scikit-learn's tools, which pass costs on by metadata routing."""

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from csdl_keras.sklearn import BayesClassifier, average_cost_scorer
from tests.sklearn.bayes_classifier_test import WEIGHTS
from tests.sklearn.fitted import AFFINE, COSTS, EXPANDED, INDICES, LABELS, MATRIX, X, Y, estimator

FOLDS = StratifiedKFold(3)
SPLITS = list(FOLDS.split(X, Y))
BY_LABEL = MATRIX[INDICES]


def average(model, rows, costs):
    """Minus what the decisions of `rows` cost on average."""
    return -costs[rows, np.searchsorted(LABELS, model.predict(X[rows]))].mean()


def paid(probabilities, rows):
    """Minus what Bayes decisions cost the examples of `rows` on average."""
    total = 0.0
    for chances, n in zip(probabilities, rows, strict=True):
        expected = [sum(chances[y] * EXPANDED[n, y, k] for y in range(3)) for k in range(3)]
        total += EXPANDED[n, INDICES[n], int(np.argmin(expected))]
    return -total / len(rows)


def cross_validated(model, scoring=None, **params):
    """Yields what was fitted on each fold, its scores, and the rows of training and test."""
    given = {"scoring": scoring, "params": params, "return_estimator": True}
    found = cross_validate(model, X, Y, cv=FOLDS, error_score="raise", **given)
    scores = [found[name] for name in found if name.startswith("test_")]
    return zip(found["estimator"], zip(*scores, strict=True), SPLITS, strict=True)


def test_cross_validation_scores_by_cost():
    for scorer in (None, average_cost_scorer(MATRIX)):
        for fitted, (score,), (_, test) in cross_validated(estimator("csosr"), scorer):
            assert score == pytest.approx(average(fitted, test, BY_LABEL))


def test_a_search_over_algorithms(run_eagerly):
    grid = {"algorithm": ["dnn_bayes", "csosr"]}
    search = GridSearchCV(estimator(), grid, cv=2, error_score="raise").fit(X, Y)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"]) <= 0
    assert search.best_params_ == {"algorithm": search.best_estimator_.algorithm}
    assert search.score(X, Y) == pytest.approx(average(search, range(90), BY_LABEL))


@pytest.fixture
def routing():
    """Lets scikit-learn pass costs of examples on."""
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
class TestRouting:
    def test_cost_vectors_reach_the_scorer(self):
        own = average_cost_scorer().set_score_request(costs="prices")
        scorers = {"own": own, "mean": average_cost_scorer(MATRIX)}
        model = estimator("csosr").set_fit_request(costs=False)
        for fitted, scores, (_, test) in cross_validated(model, scorers, prices=COSTS):
            assert scores[0] == pytest.approx(average(fitted, test, COSTS))
            assert scores[1] == pytest.approx(average(fitted, test, BY_LABEL))

    @pytest.mark.parametrize(
        "costs,scorer",
        [
            (AFFINE, None),
            (AFFINE, average_cost_scorer()),
            (EXPANDED, average_cost_scorer(None, True)),
        ],
    )
    def test_known_costs_decide_in_each_fold(self, costs, scorer):
        model = BayesClassifier(GaussianNB()).set_fit_request(costs=False)
        model.set_predict_request(costs=True).set_score_request(costs=True)
        if scorer is not None:
            scorer.set_score_request(costs=True)
        for one in (model, make_pipeline(StandardScaler(), model)):
            for fitted, (score,), (_, test) in cross_validated(one, scorer, costs=costs):
                assert score == pytest.approx(paid(fitted.predict_proba(X[test]), test))

    def test_known_costs_reach_fit(self, run_eagerly):
        model = estimator("dnn_bayes", cost_matrix=None)
        model.set_fit_request(costs=True).set_score_request(costs=True)
        for fitted, (score,), (train, test) in cross_validated(model, costs=AFFINE):
            np.testing.assert_allclose(fitted.cost_matrix_, EXPANDED[train].mean(axis=0))
            assert score == pytest.approx(paid(fitted.predict_proba(X[test]), test))

    def test_costs_that_nobody_asked_for(self):
        pipeline = make_pipeline(StandardScaler(), BayesClassifier(GaussianNB())).fit(X, Y)
        with pytest.raises(UnsetMetadataPassedError, match="costs"):
            pipeline.predict(X, costs=AFFINE)
        with pytest.raises(UnsetMetadataPassedError, match="costs"):
            average_cost_scorer()(pipeline, X, Y, AFFINE)

    @pytest.mark.parametrize("method", ["sigmoid", None])
    def test_weights_are_routed_to_the_classifier(self, method):
        base = LogisticRegression().set_fit_request(sample_weight=True)
        model = BayesClassifier(base, MATRIX, method).set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=True)
        fitted, (score,), (train, test) = next(cross_validated(model, sample_weight=WEIGHTS))
        with sklearn.config_context(enable_metadata_routing=False):
            alone = BayesClassifier(LogisticRegression(), MATRIX, method)
            alone.fit(X[train], Y[train], sample_weight=WEIGHTS[train])
            expected = alone.score(X[test], Y[test], sample_weight=WEIGHTS[test])
        np.testing.assert_allclose(fitted.predict_proba(X), alone.predict_proba(X))
        assert score == pytest.approx(expected)
