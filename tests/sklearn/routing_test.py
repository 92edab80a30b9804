"""Costs that are known when deciding, passed on by scikit-learn's metadata routing."""

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    StratifiedKFold,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import csdl_keras as csdl
from csdl_keras.sklearn import BayesClassifier, average_cost_scorer
from tests.sklearn.bayes_classifier_test import AFFINE, EXPANDED, INDICES, WEIGHTS
from tests.sklearn.fitted import LABELS, X, Y, estimator

FOLDS = StratifiedKFold(3)
SPLITS = list(FOLDS.split(X, Y))
BOTH = pytest.mark.parametrize("costs", [AFFINE, EXPANDED], ids=["affine", "each"])


@pytest.fixture(autouse=True)
def routing():
    """Lets scikit-learn pass costs of examples on."""
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def paid(probabilities, rows):
    """Minus what Bayes decisions cost the examples of `rows` on average."""
    total = 0.0
    for chances, n in zip(probabilities, rows, strict=True):
        expected = [sum(chances[y] * EXPANDED[n, y, k] for y in range(3)) for k in range(3)]
        total += EXPANDED[n, INDICES[n], int(np.argmin(expected))]
    return -total / len(rows)


def asking(model):
    """The model, which asks for costs wherever it decides."""
    return model.set_predict_request(costs=True).set_score_request(costs=True)


@BOTH
def test_cross_validation_decides_by_the_costs_of_each_fold(costs):
    model = asking(BayesClassifier(GaussianNB())).set_fit_request(costs=False)
    pipeline = make_pipeline(StandardScaler(), model)
    given = {"params": {"costs": costs}, "return_estimator": True, "error_score": "raise"}
    found = cross_validate(pipeline, X, Y, cv=FOLDS, **given)
    for fitted, score, (_, test) in zip(
        found["estimator"], found["test_score"], SPLITS, strict=True
    ):
        probabilities = fitted.predict_proba(X[test])
        assert score == pytest.approx(paid(probabilities, test))
        chosen = csdl.bayes_decisions(probabilities, costs[test])
        decided = fitted.predict(X[test], costs=costs[test])
        np.testing.assert_array_equal(decided, LABELS[chosen])


@BOTH
@pytest.mark.parametrize("bayes", [False, True])
def test_the_scorer_decides_by_known_costs(costs, bayes):
    model = asking(BayesClassifier(GaussianNB())).set_fit_request(costs=False)
    scorer = average_cost_scorer(bayes=bayes).set_score_request(costs=True)
    given = {"params": {"costs": costs}, "return_estimator": True, "error_score": "raise"}
    for one in (model, make_pipeline(StandardScaler(), model)):
        found = cross_validate(one, X, Y, cv=FOLDS, scoring=scorer, **given)
        for fitted, score, (_, test) in zip(
            found["estimator"], found["test_score"], SPLITS, strict=True
        ):
            assert score == pytest.approx(paid(fitted.predict_proba(X[test]), test))


def test_probabilities_of_cross_validation_and_then_the_decisions():
    """`cross_val_predict` passes nothing on to `predict`, so it is asked for probabilities."""
    model = BayesClassifier(GaussianNB())
    probabilities = cross_val_predict(model, X, Y, cv=FOLDS, method="predict_proba")
    decisions = csdl.bayes_decisions(probabilities, AFFINE)
    for train, test in SPLITS:
        alone = BayesClassifier(GaussianNB()).fit(X[train], Y[train])
        decided = alone.predict(X[test], costs=AFFINE[test])
        np.testing.assert_array_equal(LABELS[decisions[test]], decided)
    with pytest.raises((TypeError, UnsetMetadataPassedError), match="costs"):
        cross_val_predict(asking(model), X, Y, cv=FOLDS, params={"costs": AFFINE})


def test_costs_that_nobody_asked_for():
    pipeline = make_pipeline(StandardScaler(), BayesClassifier(GaussianNB())).fit(X, Y)
    with pytest.raises(UnsetMetadataPassedError, match="costs"):
        pipeline.predict(X, costs=AFFINE)
    scorer = average_cost_scorer()
    with pytest.raises(UnsetMetadataPassedError, match="costs"):
        scorer(pipeline, X, Y, AFFINE)
    with sklearn.config_context(enable_metadata_routing=False):
        found = scorer(pipeline, X, Y, AFFINE)
    assert found == pytest.approx(paid(pipeline.predict_proba(X), range(90)))


@BOTH
def test_the_trained_estimator_gets_them_in_fit(costs, run_eagerly):
    model = asking(estimator("dnn_bayes", cost_matrix=None)).set_fit_request(costs=True)
    given = {"params": {"costs": costs}, "return_estimator": True, "error_score": "raise"}
    found = cross_validate(model, X, Y, cv=FOLDS, **given)
    for fitted, score, (train, test) in zip(
        found["estimator"], found["test_score"], SPLITS, strict=True
    ):
        np.testing.assert_allclose(fitted.cost_matrix_, EXPANDED[train].mean(axis=0))
        assert score == pytest.approx(paid(fitted.predict_proba(X[test]), test))


@pytest.mark.parametrize("method", ["sigmoid", None])
def test_weights_are_routed_to_the_classifier(method):
    base = LogisticRegression().set_fit_request(sample_weight=True)
    model = BayesClassifier(base, calibration=method).set_fit_request(sample_weight=True)
    model.set_score_request(sample_weight=True)
    given = {"params": {"sample_weight": WEIGHTS}, "return_estimator": True}
    found = cross_validate(model, X, Y, cv=FOLDS, error_score="raise", **given)
    train, test = SPLITS[0]
    with sklearn.config_context(enable_metadata_routing=False):
        alone = BayesClassifier(LogisticRegression(), calibration=method)
        alone.fit(X[train], Y[train], sample_weight=WEIGHTS[train])
        score = alone.score(X[test], Y[test], sample_weight=WEIGHTS[test])
    np.testing.assert_allclose(found["estimator"][0].predict_proba(X), alone.predict_proba(X))
    assert found["test_score"][0] == pytest.approx(score)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        BayesClassifier(LogisticRegression()).fit(X, Y, sample_weight=WEIGHTS)
