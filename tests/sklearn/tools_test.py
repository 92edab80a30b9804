"""The estimator within scikit-learn's tools, in one process and several."""

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from csdl_keras.sklearn import average_cost_scorer
from tests.sklearn.fitted import COSTS, LABELS, MATRIX, SETTINGS, X, Y, estimator

FOLDS = StratifiedKFold(3)
LESS = SETTINGS.replace({"mlp.hidden_units": (3,)})


def average(model, rows, costs):
    """Minus what the decisions of `rows` cost on average, by a loop."""
    decisions = model.predict(X[rows])
    paid = [costs[n][list(LABELS).index(d)] for n, d in zip(rows, decisions, strict=True)]
    return -np.mean(paid)


BY_LABEL = [MATRIX[list(LABELS).index(label)] for label in Y]


def test_clone_keeps_the_arguments():
    model = estimator(settings=LESS)
    twin = clone(model)
    assert twin.get_params() == {**model.get_params(), "cost_matrix": twin.cost_matrix}
    np.testing.assert_array_equal(twin.cost_matrix, MATRIX)
    assert not hasattr(twin, "classes_")


def test_a_pipeline_scales_for_it(run_eagerly):
    pipeline = make_pipeline(StandardScaler(), estimator()).fit(X, Y)
    scaled = StandardScaler().fit_transform(X)
    alone = estimator().fit(scaled, Y)
    np.testing.assert_array_equal(pipeline.predict(X), alone.predict(scaled))
    assert pipeline.score(X, Y) == pytest.approx(average(pipeline, range(90), BY_LABEL))


def test_cross_validation_scores_by_cost(run_eagerly):
    found = cross_val_score(estimator("csosr"), X, Y, cv=FOLDS)
    expected = [
        average(estimator("csosr").fit(X[train], Y[train]), test, BY_LABEL)
        for train, test in FOLDS.split(X, Y)
    ]
    np.testing.assert_allclose(found, expected)
    by_scorer = cross_val_score(
        estimator("csosr"), X, Y, cv=FOLDS, scoring=average_cost_scorer(MATRIX)
    )
    np.testing.assert_allclose(by_scorer, expected)


def test_a_search_over_algorithms_and_settings(run_eagerly):
    grid = {"algorithm": ["dnn_bayes", "csosr"], "settings": [SETTINGS, LESS]}
    search = GridSearchCV(estimator(), grid, cv=FOLDS, error_score="raise").fit(X, Y)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_score_ == max(search.cv_results_["mean_test_score"]) <= 0
    assert search.best_params_ == {
        name: getattr(search.best_estimator_, name) for name in ("algorithm", "settings")
    }
    assert search.score(X, Y) == pytest.approx(average(search, range(90), BY_LABEL))


def test_two_processes_do_what_one_does(tmp_path):
    alone, together = (
        cross_val_score(estimator(), X, Y, cv=FOLDS, n_jobs=jobs, error_score="raise")
        for jobs in (1, 2)
    )
    np.testing.assert_allclose(alone, together, rtol=1e-6)
    model = estimator().fit(X, Y)
    joblib.dump(model, tmp_path / "model.joblib")
    loaded = joblib.load(tmp_path / "model.joblib")
    np.testing.assert_allclose(loaded.predict_cost(X), model.predict_cost(X), rtol=1e-6)


class TestRouting:
    def test_costs_of_examples_reach_fit_and_score(self, run_eagerly):
        with sklearn.config_context(enable_metadata_routing=True):
            model = estimator(cost_matrix=None)
            model.set_fit_request(costs=True).set_score_request(costs=True)
            found = cross_validate(
                model,
                X,
                Y,
                cv=FOLDS,
                params={"costs": COSTS},
                return_estimator=True,
                error_score="raise",
            )
        for fitted, score, (train, test) in zip(
            found["estimator"], found["test_score"], FOLDS.split(X, Y), strict=True
        ):
            assert score == pytest.approx(average(fitted, test, COSTS))
            alone = estimator(cost_matrix=None).fit(X[train], Y[train], costs=COSTS[train])
            np.testing.assert_array_equal(fitted.predict(X), alone.predict(X))

    def test_a_search_and_a_pipeline(self, run_eagerly):
        with sklearn.config_context(enable_metadata_routing=True):
            model = estimator("csosr", cost_matrix=None)
            model.set_fit_request(costs=True).set_score_request(costs=True)
            pipeline = make_pipeline(StandardScaler(), model)
            settings = "costsensitiveclassifier__settings"
            grid = {settings: [SETTINGS, SETTINGS.replace({"svm.penalty": 9.0})]}
            search = GridSearchCV(pipeline, grid, cv=FOLDS, error_score="raise")
            search.fit(X, Y, costs=COSTS)
            score = search.score(X, Y, costs=COSTS)
        assert score == pytest.approx(average(search, range(90), COSTS))

    def test_costs_reach_the_scorer(self, run_eagerly):
        with sklearn.config_context(enable_metadata_routing=True):
            found = cross_validate(
                estimator("csosr").set_fit_request(costs=False),
                X,
                Y,
                cv=FOLDS,
                scoring={
                    "own": average_cost_scorer().set_score_request(costs="prices"),
                    "mean": average_cost_scorer(MATRIX),
                },
                params={"prices": COSTS},
                return_estimator=True,
                error_score="raise",
            )
        for index, (_, test) in enumerate(FOLDS.split(X, Y)):
            fitted = found["estimator"][index]
            assert found["test_own"][index] == pytest.approx(average(fitted, test, COSTS))
            assert found["test_mean"][index] == pytest.approx(average(fitted, test, BY_LABEL))

    def test_without_it_the_scorer_cannot_ask(self):
        with pytest.raises(RuntimeError, match="Expected metadata routing to be enabled"):
            average_cost_scorer(MATRIX).set_score_request(costs=True)
