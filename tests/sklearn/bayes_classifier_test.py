"""Any classifier of scikit-learn that decides by costs, against literal loops."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from csdl_keras.prediction.calibrate import fit_scaling
from csdl_keras.sklearn import BayesClassifier
from tests.sklearn.fitted import AFFINE, COSTS, EXPANDED, INDICES, LABELS, MATRIX, X, Y, expected

WEIGHTS = np.random.default_rng(2).uniform(0.1, 3, size=90)


def by_matrix(base, x, labels, cv=5, weights=None):
    """Probabilities of `x` by a classifier that is fitted to all of it, and calibrated."""
    given, rows = {} if weights is None else {"sample_weight": weights}, np.empty((len(x), 3))
    for train, test in StratifiedKFold(cv).split(x, labels):
        own = {} if weights is None else {"sample_weight": weights[train]}
        rows[test] = base.fit(x[train], labels[train], **own).predict_proba(x[test])
    spread = 1.0 if weights is None else np.sqrt(weights.mean())  # weights are counts
    matrix, bias = fit_scaling(rows, labels, "matrix", spread, weights)
    rows = base.fit(x, labels, **given).predict_proba(x)
    return np.stack([softmax(np.log(np.maximum(row, 1e-4)) @ matrix + bias) for row in rows])


@pytest.mark.parametrize("method", ["matrix", "sigmoid", "isotonic", "temperature", None])
def test_probabilities_and_decisions(method):
    base = make_pipeline(StandardScaler(), GaussianNB())
    model = BayesClassifier(base, MATRIX, method, cv=3).fit(X, Y)
    if method == "matrix":
        probabilities = by_matrix(base, X, INDICES, cv=3)
    else:
        other = base if method is None else CalibratedClassifierCV(base, method=method, cv=3)
        probabilities = other.fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(X), probabilities, rtol=1e-6)
    for costs, matrix_of in (
        (None, lambda n: MATRIX),
        (MATRIX[::-1, ::-1], lambda n: MATRIX[::-1, ::-1]),
        (AFFINE, lambda n: EXPANDED[n]),
    ):
        rows = expected(probabilities, matrix_of)
        np.testing.assert_allclose(model.predict_cost(X, costs=costs), rows)
        chosen = rows.argmin(axis=1)
        np.testing.assert_array_equal(model.predict(X, costs=costs), LABELS[chosen])
        assert len(set(chosen)) > 1
        paid = [matrix_of(n)[INDICES[n], k] for n, k in enumerate(chosen)]
        if costs is not None and costs is not AFFINE:
            costs = np.tile(costs, (90, 1, 1))
        assert model.score(X, Y, costs=costs) == pytest.approx(-np.mean(paid))


@pytest.mark.parametrize("labels", [INDICES, INDICES > 0], ids=["three", "two"])
def test_scores_of_a_classifier_without_probabilities(labels):
    model = BayesClassifier(LinearSVC(), 1 - np.eye(len(set(labels)))).fit(X, labels)
    scores = LinearSVC().fit(X, labels).decision_function(X)
    if scores.ndim == 1:
        scores = np.stack([-scores, scores], axis=1) / 2
    scaling = model.estimator_
    logs = np.log(np.maximum(softmax(scores, axis=1), 1e-4))
    right = softmax(logs @ scaling.matrix_ + scaling.bias_, axis=1)
    np.testing.assert_allclose(model.predict_proba(X), right)
    assert np.abs(scaling.matrix_ - np.eye(len(logs[0]))).max() > 0.05


def test_a_fitted_classifier_is_only_calibrated():
    fitted = GaussianNB().fit(X[:45], Y[:45])
    model = BayesClassifier(FrozenEstimator(fitted), MATRIX).fit(X[45:], Y[45:])
    matrix, bias = fit_scaling(fitted.predict_proba(X[45:]), INDICES[45:], "matrix")
    np.testing.assert_allclose(model.estimator_.matrix_, matrix, rtol=1e-6)
    np.testing.assert_allclose(model.estimator_.bias_, bias, rtol=1e-6)
    model = BayesClassifier(FrozenEstimator(fitted), MATRIX, "sigmoid").fit(X[45:], Y[45:])
    frozen = CalibratedClassifierCV(FrozenEstimator(fitted)).fit(X[45:], Y[45:])
    np.testing.assert_allclose(model.predict_proba(X), frozen.predict_proba(X))
    plain = BayesClassifier(FrozenEstimator(fitted), MATRIX, calibration=None)
    found = plain.fit(X[:1], Y[:1]).predict_proba(X)
    np.testing.assert_array_equal(found, fitted.predict_proba(X))
    with pytest.raises(ValueError, match="`y` contains 'fox', which is not one of"):
        plain.fit(X[:3], ["cat", "dog", "fox"])


@pytest.mark.parametrize("method", ["matrix", "sigmoid", None])
def test_weights_reach_classifier_and_calibration(method):
    model = BayesClassifier(LogisticRegression(), calibration=method)
    base = LogisticRegression()
    found = model.fit(X, Y, sample_weight=WEIGHTS).predict_proba(X)
    if method == "matrix":
        expected = by_matrix(base, X, INDICES, weights=WEIGHTS)
    else:
        other = base if method is None else CalibratedClassifierCV(base, method=method, cv=5)
        expected = other.fit(X, Y, sample_weight=WEIGHTS).predict_proba(X)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert np.abs(found - model.fit(X, Y).predict_proba(X)).max() > 1e-3


def test_costs_in_fit_are_what_decides_without_others():
    known = BayesClassifier(GaussianNB()).fit(X, Y, costs=AFFINE)
    np.testing.assert_allclose(known.cost_matrix_, sum(EXPANDED) / 90)
    vectors = BayesClassifier(GaussianNB()).fit(X, Y, costs=COSTS)
    for label in range(3):
        mean = COSTS[INDICES == label].mean(axis=0)
        np.testing.assert_allclose(vectors.cost_matrix_[label], mean)
    for model in (known, vectors):
        rows = model.predict_proba(X) @ model.cost_matrix_
        np.testing.assert_array_equal(model.predict(X), LABELS[rows.argmin(axis=1)])
        with pytest.raises(ValueError, match="`costs` of each example are needed"):
            model.score(X, Y)
    columns = np.searchsorted(LABELS, vectors.predict(X))
    paid = COSTS[np.arange(90), columns]
    found = vectors.score(X, Y, costs=COSTS, sample_weight=WEIGHTS)
    assert found == pytest.approx(-np.average(paid, weights=WEIGHTS))


def test_costs_with_a_decision_that_is_no_class():
    costs = np.concatenate([EXPANDED, np.full((90, 3, 1), 0.5)], axis=2)
    model = BayesClassifier(GaussianNB(), other_decisions=["ask"]).fit(X, Y)
    chosen = expected(model.predict_proba(X), lambda n: costs[n]).argmin(axis=1)
    found = model.predict(X, costs=costs)
    np.testing.assert_array_equal(found, np.array([*LABELS, "ask"])[chosen])
    with pytest.warns(UserWarning, match="given no costs"):
        assert "ask" in found and set(model.predict(X)) <= set(LABELS)


@pytest.mark.parametrize(
    ("arguments", "data", "match"),
    [
        ({"calibration": "platt"}, {}, "Expected `calibration` to be one of"),
        ({"calibration": "isotonic"}, {"y": ["fox"] * 4 + ["cat"] * 86}, "less than 5 examples"),
    ],
)
def test_what_is_refused_before_anything_is_fitted(arguments, data, match, monkeypatch):
    monkeypatch.setattr(GaussianNB, "fit", lambda *args, **kwargs: pytest.fail("fitted"))
    model = BayesClassifier(**{"estimator": GaussianNB(), **arguments})
    with pytest.raises(ValueError, match=match):
        model.fit(**{"X": X, "y": Y, **data})


def test_probabilities_that_are_none():
    class Scores(GaussianNB):
        def predict_proba(self, X):  # noqa: N803
            return super().predict_proba(X) * 3

    model = BayesClassifier(Scores(), MATRIX, calibration=None).fit(X, Y)
    with pytest.raises(ValueError, match="Rows of `probabilities` must sum to 1"):
        model.predict(X)
