"""Estimators and their scorer refuse what they document; networks are not trained here."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import csdl_keras as csdl
from tests.robustness.no_training import no_training, reaches_training
from tests.robustness.outcome import outcome
from tests.robustness.rows import Row, named, table_tests
from tests.robustness.samples import examples, matrix, priced

csdl_sklearn = pytest.importorskip("csdl_keras.sklearn")
baselines = pytest.importorskip("csdl_keras.baselines")

SETTINGS = csdl.Settings().replace({"mlp.hidden_units": (4,)}).limit_epochs(1)
LABELS = np.arange(6) % 3
INPUTS = np.arange(18).reshape(6, 3) / 8
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(autouse=True, scope="module")
def nothing_trains():
    with no_training():
        yield


class Answers:
    """A classifier of three classes that is right about `LABELS`."""

    classes_ = np.arange(3)

    def predict(self, x):
        return LABELS

    def predict_proba(self, x):
        return np.eye(3)[LABELS]


def machine(X, y, **choices):  # noqa: N803
    """Estimates of a `CSOSR` for its own examples."""
    estimates = baselines.CSOSR(**choices).fit(X, y).predict_costs(X)
    assert np.isfinite(estimates).all()
    return estimates


def fit(costs=None, **choices):
    return csdl_sklearn.CostSensitiveClassifier(**choices).fit(INPUTS, LABELS, costs=costs)


def bayes(estimator=None, X=INPUTS, y=LABELS, sample_weight=None, costs=None, **choices):  # noqa: N803
    """Expected costs by a `BayesClassifier`, for its own examples."""
    estimator = GaussianNB() if estimator is None else estimator
    model = csdl_sklearn.BayesClassifier(estimator, **choices)
    found = model.fit(X, y, sample_weight, costs)
    return found.predict_cost(INPUTS), found.predict_cost(INPUTS, KNOWN)


def predict_cost(costs):
    """Expected costs by known costs."""
    model = csdl_sklearn.BayesClassifier(GaussianNB(), calibration=None)
    return model.fit(INPUTS, LABELS).predict_cost(INPUTS, costs=costs)


def score(y, costs=None, **choices):
    return csdl_sklearn.average_cost_scorer(**choices)(Answers(), INPUTS, y, costs)


KNOWN = np.arange(54.0).reshape(6, 3, 3)
own_costs = {"cost_matrix": None, "costs": np.eye(6, 3)}
matrix_errors = (({"cost_matrix": np.ones((3, 3))}, "diagonal is 0"),)

ROWS = {
    "CSOSR": Row(
        baselines.CSOSR,
        lambda rng, k: (
            dict(zip(("X", "y"), examples(rng, k), strict=True))
            | {"penalty": 1.0, "gamma": 0.5, "cost_matrix": priced(rng, k), "method": "nystroem"}
            | {"n_components": 5, "exact_limit": 9, "tol": 0.1, "max_iter": 50}
            | {"kernel": "rbf", "random_state": 3, "binary_costs": False}
        ),
        (
            *matrix_errors,
            ({"X": np.ones(6)}, r"`X` of shape \(N, features\)"),
            ({"X": np.ones((6, 2, 2))}, "Reshape it"),
            ({"X": np.full((6, 3), np.inf)}, "finite"),
            ({"X": np.full((6, 3), 1e19)}, "size up to"),
            ({"X": np.ones((5, 3))}, "for each of"),
            ({"y": [0, 1, 2, 0, 1, 3]}, "below 3"),
            ({"cost_matrix": None}, "give CSOSR a `cost_matrix`"),
            ({"cost_matrix": None, "y": np.eye(3)[[0, 1, 2, 0, 1, 2]]}, "6 rows, all one-hot"),
            ({"cost_matrix": 1 - np.eye(3, 4)}, "of shape"),
            ({"kernel": "precomputed"}, "'exact' with kernel='precomputed'"),
            *named(
                penalty=[0.0],
                gamma=["auto"],
                method=["slow"],
                kernel=["linear"],
                n_components=[0],
                exact_limit=[0],
                tol=[0.0],
                max_iter=[0],
            ),
        ),
        ({"gamma": "scale", "method": "auto"}, {"cost_matrix": None, "y": np.eye(6, 3)}),
        call=machine,
        tolerance=1e-4,
    ),
    "CostSensitiveClassifier": Row(
        csdl_sklearn.CostSensitiveClassifier,
        lambda rng, k: (
            {"algorithm": "dnn_sosr", "cost_matrix": priced(rng, 3), "settings": SETTINGS}
            | {"validation_fraction": 0.2, "random_state": 0, "ensemble": 2, "verbose": 0}
        ),
        (
            *matrix_errors,
            ({"algorithm": "dnn"}, "received 'dnn'"),
            ({"cost_matrix": np.zeros((3, 3))}, "above 0"),
            ({"cost_matrix": 1 - np.eye(4)}, "Expected"),
            ({"costs": np.ones((6, 3))}, "received both"),
            (own_costs | {"costs": np.ones((5, 3))}, "a row for each of 6 labels"),
            (own_costs | {"costs": np.eye(3)[LABELS]}, "6 rows, all one-hot"),
            (own_costs | {"costs": KNOWN, "algorithm": "dnn_sosr"}, "Expected class probabilities"),
            (own_costs | {"costs": KNOWN[:5], "algorithm": "dnn_bayes"}, "each of 6 examples"),
            ({"other_decisions": ["abstain"]}, "0 labels"),
            ({"other_decisions": "abstain"}, "`other_decisions` to be a list"),
            ({"network": "resnet"}, "`network` to be an uncompiled"),
            *named(validation_fraction=[1.0], random_state=[2**32], ensemble=[1001], verbose=[3]),
            *named(effort=["fast"], minutes=[0, np.nan]),
        ),
        (
            own_costs,
            own_costs | {"costs": KNOWN, "algorithm": "dnn_bayes"},
            {"random_state": np.random.RandomState(0), "cost_matrix": None, "settings": None},
            {"algorithm": "dnn_bayes", "effort": "balanced", "ensemble": None},
            {"other_decisions": [], "ensemble": None, "random_state": None, "verbose": "auto"},
        ),
        free=("other_decisions", "network", "effort", "minutes"),
        call=reaches_training(fit),
    ),
    "average_cost_scorer": Row(
        csdl_sklearn.average_cost_scorer,
        lambda rng, k: {"y": rng.integers(3, size=6), "cost_matrix": matrix(rng, 3, 3)},
        (
            *matrix_errors,
            ({"y": [0, 1, 2, 0, 1, 3]}, "to be among"),
            ({"y": np.zeros((6, 2))}, r"`y` of shape \(N,\)"),
            ({"bayes": True, "cost_matrix": None}, "Expected `costs` of each example"),
            (
                {"bayes": True, "cost_matrix": None, "costs": np.ones((6, 3))},
                "to decide by with bayes=True",
            ),
            ({"costs": KNOWN[:5]}, "a matrix for each of 6 examples"),
            ({"costs": np.full((6, 3, 3), np.nan)}, "finite"),
            ({"bayes": 1}, "`bayes`"),
            ({"other_decisions": ["abstain"]}, "0 labels|`other_decisions`"),
        ),
        ({"bayes": True}, {"y": LABELS[:, None]}, {"cost_matrix": 1 - np.eye(3, 4), "bayes": True}),
        free=("bayes", "other_decisions", "costs"),
        call=score,
    ),
    "BayesClassifier": Row(
        csdl_sklearn.BayesClassifier,
        lambda rng, k: {"cost_matrix": priced(rng, 3), "calibration": "sigmoid", "cv": 2},
        (
            *matrix_errors,
            ({"estimator": object()}, "Expected `estimator` to be a classifier"),
            ({"cost_matrix": 1 - np.eye(4)}, "Expected"),
            ({"costs": np.ones((6, 3))}, "received both"),
            (own_costs | {"costs": np.ones((5, 3))}, "a row for each of 6 labels"),
            (own_costs | {"costs": np.eye(3)[LABELS]}, "6 rows, all one-hot"),
            (own_costs | {"costs": KNOWN[:5]}, "a matrix for each of 6 examples"),
            ({"y": [0, 0, 0, 1, 1, 2]}, "at least 2 examples of each class"),
            ({"y": [0] * 6}, "at least 2 classes in `y`"),
            ({"other_decisions": ["abstain"]}, "0 labels"),
            *named(calibration=["platt"], cv=[1, 2.5]),
        ),
        (own_costs, own_costs | {"costs": KNOWN}, {"calibration": None}, {"cost_matrix": None}),
        free=("estimator", "X", "y", "sample_weight", "costs", "other_decisions"),
        call=bayes,
        tolerance=1e-9,
    ),
    "BayesClassifier, known costs": Row(
        csdl_sklearn.BayesClassifier.predict_cost,
        lambda rng, k: {"costs": KNOWN + rng.uniform(size=KNOWN.shape)},
        (
            ({"costs": KNOWN[:5]}, "a matrix for each of 6 examples"),
            ({"costs": KNOWN[:, :2]}, "for each of 3 classes"),
            ({"costs": np.ones((6, 3))}, "a vector for each example"),
            ({"costs": -KNOWN}, "at least 0"),
        ),
        ({"costs": None}, {"costs": 1 - np.eye(3)}),
        free=("self", "X"),
        call=predict_cost,
        containers=("list",),
    ),
}
TestTable = table_tests(ROWS, large=False)


@pytest.mark.parametrize("wrong", [3, "2", None, object(), [0, 1], np.ones(2)])
def test_what_is_no_classifier(wrong):
    for bayes in (False, True):
        scorer = csdl_sklearn.average_cost_scorer(np.ones((3, 3)) - np.eye(3), bayes)
        message = str(outcome(scorer, wrong, INPUTS, LABELS))
        assert message.startswith("Expected a fitted classifier with classes_ and predict")


def test_probabilities_that_are_not():
    class Lost(Answers):
        def predict_proba(self, x):
            return np.full((6, 3), np.nan)

    scorer = csdl_sklearn.average_cost_scorer(np.ones((3, 3)) - np.eye(3), bayes=True)
    with pytest.raises(ValueError, match="^Expected outputs without NaN"):
        scorer(Lost(), INPUTS, LABELS)
