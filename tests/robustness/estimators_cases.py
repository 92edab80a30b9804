"""Estimators and their scorer: right arguments, and what their documentation says."""

import numpy as np
import pytest

import csdl_keras as csdl
from tests.robustness.costs_cases import floats, matrix, vectors
from tests.robustness.documented import (
    array_of_numbers,
    is_indices,
    is_integer,
    is_matrix,
    is_number,
    is_vectors,
)
from tests.robustness.no_training import is_verbose, reaches_training
from tests.robustness.outcome import Case
from tests.robustness.training_cases import SETTINGS, examples, inputs, optional_integer, priced

baselines = pytest.importorskip("csdl_keras.baselines")
csdl_sklearn = pytest.importorskip("csdl_keras.sklearn")

LABELS = np.arange(6) % 3
INPUTS = np.arange(18).reshape(6, 3) / 8


def is_table(x):
    """What `CSOSR` takes as inputs."""
    array = array_of_numbers(x)
    if array is None or array.ndim != 2 or array.size == 0:
        return False
    return all(abs(entry) <= 1e18 for entry in array.ravel().tolist())


def machine(x, y, penalty, gamma, costs, method, components, limit, tol, steps):
    """Estimates of a `CSOSR` for its own examples."""
    fitted = baselines.CSOSR(
        penalty, gamma, costs, "rbf", method, components, limit, tol, steps
    ).fit(x, y)
    return fitted.predict_costs(x)


def is_labelled(y, costs):
    return is_matrix(costs, True) and is_indices(y, len(costs))


def fits(x, y, penalty, gamma, costs, method, components, limit, tol, steps):
    return (
        is_table(x)
        and (
            is_vectors(y) if costs is None else is_matrix(costs, True) and is_indices(y, len(costs))
        )
        and len(np.asarray(x)) == len(np.asarray(y))
        and is_number(penalty, 0, 1e30)
        and (is_number(gamma, 0, 1e30) or str(gamma) == "scale")
        and str(method) == "auto"
        and is_integer(components, 1)
        and is_integer(limit, 1)
        and is_number(tol, 0, 1e308)
        and is_integer(steps, 1)
    )


def fit(costs, own, settings, fraction, state, ensemble, others, verbose):
    return csdl_sklearn.CostSensitiveClassifier(
        "dnn_sosr", costs, settings, fraction, state, ensemble, others, verbose
    ).fit(INPUTS, LABELS, costs=own)


def is_state(state):
    return optional_integer(state, 0, 2**32 - 1) or isinstance(state, np.random.RandomState)


def is_right(costs, own, settings, fraction, state, ensemble, others, verbose):
    priced = (
        (own is None and is_matrix(costs, True) and len(costs) == 3 and floats(costs).max() > 0)
        or (costs is None and own is None)
        or (
            costs is None
            and is_vectors(own)
            and len(np.asarray(own)) == 6
            and np.shape(own)[1] <= 3
            and floats(own).max() > 0
        )
    )
    return (
        priced
        and (settings is None or isinstance(settings, csdl.Settings))
        and is_number(fraction, -1, 0.99)
        and fraction >= 0
        and is_state(state)
        and optional_integer(ensemble, 1, 1000)
        and (others is None or (others_fit(others) and len(others) == 0))
        and is_verbose(verbose)
    )


def others_fit(others):
    listed = isinstance(others, (list, tuple)) or (isinstance(others, np.ndarray) and others.ndim)
    return listed and all(np.isscalar(one) for one in others)


def known_labels(y):
    """The labels as a list, if they are six and all of them are classes."""
    try:
        listed = np.asarray(y).tolist()
    except ValueError:
        return None
    if isinstance(listed, list) and all(isinstance(row, list) and len(row) == 1 for row in listed):
        listed = [one for (one,) in listed]
    if np.ma.is_masked(y) or not isinstance(listed, list) or len(listed) != 6:
        return None
    return listed if all(np.isscalar(one) and one in (0, 1, 2) for one in listed) else None


class Answers:
    """A classifier of three classes that is right about `LABELS`."""

    classes_ = np.arange(3)

    def predict(self, x):
        return LABELS

    def predict_proba(self, x):
        return np.eye(3)[LABELS]


def score(y, costs, bayes, others):
    return csdl_sklearn.average_cost_scorer(costs, bayes, others)(Answers(), INPUTS, y)


def scores(y, costs, bayes, others):
    return (
        isinstance(bayes, bool)
        and is_matrix(costs)
        and len(costs) == 3
        and known_labels(y) is not None
        and (others is None or (others_fit(others) and (bayes or len(others) == 0)))
    )


def average(y, costs, bayes, others):
    chosen = [int(np.argmin(row)) if bayes else k for k, row in enumerate(floats(costs))]
    pairs = zip(known_labels(y), LABELS, strict=True)
    return -np.mean([floats(costs)[int(label.real), chosen[k]] for label, k in pairs])


CASES = {
    "CSOSR": Case(
        machine,
        lambda rng, k: (*examples(rng, k), 1.0, "scale", priced(rng, k), "auto", 5, 9, 0.1, 50),
        fits,
        holds=lambda result, x, *_: len(result) == len(np.asarray(x)) and np.isfinite(result).all(),
        tolerance=1e-4,
    ),
    "CSOSR, costs": Case(
        lambda x, y, gamma: machine(x, y, 2.0, gamma, None, "nystroem", 3, 9, 0.1, 50),
        lambda rng, k: (inputs(rng, 4), vectors(rng, 4, k), 0.5),
        lambda x, y, gamma: fits(x, y, 1.0, gamma, None, "auto", 5, 9, 0.1, 50),
        holds=lambda result, *_: np.isfinite(result).all(),
        tolerance=1e-4,
    ),
    "CostSensitiveClassifier": Case(
        reaches_training(fit),
        lambda rng, k: (priced(rng, 3), None, SETTINGS, 0.2, 0, None, None, 0),
        is_right,
    ),
    "CostSensitiveClassifier, costs": Case(
        reaches_training(lambda own, settings: fit(None, own, settings, 0, 0, 1, [], 0)),
        lambda rng, k: (vectors(rng, 6, 3) + 1, None),
        lambda own, settings: is_right(None, own, settings, 0, 0, 1, [], 0),
    ),
    "average_cost_scorer": Case(
        score,
        lambda rng, k: (rng.integers(3, size=6), matrix(rng, 3, 3), bool(rng.integers(2)), None),
        scores,
        average,
    ),
}
