"""Whole searches: the tuners of this package and KerasTuner's own, with every HyperModel."""

import itertools

import keras
import keras_tuner
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras import tuning
from tests.pretraining.data_test import as_tf_data
from tests.support.weights import assert_same_weights
from tests.tuning.searches import (
    COSTS,
    OBJECTIVE,
    TRAIN,
    VALIDATION,
    C,
    X,
    Y,
    cost,
    made,
    outcomes,
    search,
    small,
    statuses,
)

IMAGES = np.repeat(np.repeat(X[:, :4].reshape(-1, 2, 2, 1), 4, axis=1), 4, axis=2)


def csdnn():
    return small(depth=1, pretraining_learning_rate=1e-3, learning_rate=tuning.Range(0.1, 0.5))


def cnn():
    return tuning.CNNHyperModel((8, 8, 1), C, learning_rate=tuning.Range(0.01, 0.1))


@pytest.mark.parametrize(
    "tuner_class,make",
    [(tuning.RandomSearch, cnn), (tuning.GridSearch, csdnn), (keras_tuner.Hyperband, csdnn)],
)
def test_the_best_model_is_what_was_recorded(tuner_class, make, tmp_path):
    hyper_model, x = make(), IMAGES if make is cnn else X
    if tuner_class is keras_tuner.Hyperband:
        common = {"objective": OBJECTIVE, "seed": 1, "directory": tmp_path}
        tuner = tuner_class(hyper_model, **common, max_epochs=2, factor=2)
    else:
        tuner = made(tmp_path, hyper_model, tuner_class, max_trials=3)
    stop = keras.callbacks.EarlyStopping("val_average_cost", mode="min", patience=1)
    search(tuner, x, callbacks=[stop])
    assert statuses(tuner) == ["COMPLETED"] * len(statuses(tuner))
    scores = [score for *_, score in outcomes(tuner).values()]
    assert len(scores) >= 3 and tuner.oracle.get_best_trials()[0].score == min(scores)
    model = tuner.get_best_models()[0]
    np.testing.assert_allclose(cost(model, x), min(scores), atol=1e-6)
    decided = csdl.decide(hyper_model.classifier(model), x[VALIDATION])
    np.testing.assert_allclose(C[Y[VALIDATION], decided].mean(), min(scores), atol=1e-6)


def test_datasets_of_cost_vectors(tmp_path):
    given = {"cost_matrix": None, "num_classes": 3, "max_cost": 10.0}
    hyper_model = small(depth=1, **given)
    tuner = made(tmp_path, hyper_model, max_trials=2)
    validation = as_tf_data(X[VALIDATION], COSTS[VALIDATION])
    training = as_tf_data(X[TRAIN], COSTS[TRAIN])
    tuner.search(training, validation_data=validation, epochs=2, verbose=0)
    assert statuses(tuner) == ["COMPLETED"] * 2
    best = tuner.oracle.get_best_trials()[0]
    np.testing.assert_allclose(cost(tuner.get_best_models()[0], y=COSTS), best.score, atol=1e-6)


def test_a_trial_that_diverges_fails_alone(tmp_path):
    hyper_model = small("dnn_sosr", learning_rate=[1e38, 0.1], depth=1)
    tuner = search(made(tmp_path, hyper_model, tuning.GridSearch, max_trials=2))
    assert len(statuses(tuner)) == 2 and set(statuses(tuner)) <= {"COMPLETED", "FAILED"}
    assert np.isfinite(cost(tuner.get_best_models()[0]))


def test_executions_have_seeds_of_their_own(tmp_path):
    """Whatever was trained before, and if a trial is run again."""
    weights = {}
    hyper_model = csdnn()
    fit = hyper_model.fit

    def noted(hp, model, *args, callbacks, **kwargs):
        told = fit(hp, model, *args, callbacks=callbacks, **kwargs)
        key = (*sorted(hp.values.items()), callbacks[-1].executions)
        assert_same_weights(weights.setdefault(key, model.get_weights()), model.get_weights())
        if len(weights) == 1 and not again:
            again.append(key)
            raise RuntimeError("once")
        return told

    hyper_model.fit, again = noted, []
    options = {"executions_per_trial": 2, "max_trials": 2, "max_retries_per_trial": 1}
    search(made(tmp_path, hyper_model, tuning.GridSearch, **options), epochs=1)
    assert len(weights) == 4
    first, second, *_ = weights.values()
    assert np.abs(first[0] - second[0]).max() > 1e-3


def build(hp):
    """A model that is never trained."""
    hp.Choice("b", [0.0, 0.1, 0.25, 0.5])
    hp.Int("d", 1, 3)
    return keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])


class Stop(BaseException):
    """Ends a search as a kill does."""


def scored(tuner_class):
    """A tuner whose trials only compute a number, and that stops at a chosen place."""

    class Tuner(tuner_class):
        stop_at, where = None, None

        def run_trial(self, trial, *args, **kwargs):
            self.check(trial, "in a trial")
            values = trial.hyperparameters
            return (values.get("b") - 0.3) ** 2 + 0.1 * values.get("d")

        def on_trial_end(self, trial):
            self.oracle.end_trial(trial)
            self.check(trial, "at its end")

        def check(self, trial, where):
            if (int(trial.trial_id), where) == (self.stop_at, self.where):
                raise Stop

    return Tuner


@pytest.mark.parametrize(
    "tuner_class,stop_at,where",
    [
        *itertools.product(
            [tuning.RandomSearch, tuning.GridSearch], [3], ["in a trial", "at its end"]
        ),
        (tuning.GridSearch, 0, "at its end"),
        # Its Gaussian process takes seconds a search; the first two trials are random.
        (tuning.BayesianOptimization, 3, "at its end"),
    ],
)
def test_a_killed_search_ends_where_an_undisturbed_one_does(tuner_class, stop_at, where, tmp_path):
    first = {"num_initial_points": 2} if tuner_class is tuning.BayesianOptimization else {}

    def start(name):
        # The seed 0 is a seed as any other.
        return made(tmp_path / name, build, scored(tuner_class), max_trials=5, seed=0, **first)

    undisturbed = start("undisturbed")
    undisturbed.search(verbose=0)
    tuner = start("killed")
    tuner.stop_at, tuner.where = stop_at, where
    with pytest.raises(Stop):
        tuner.search(verbose=0)
    tuner = start("killed")
    started = []
    tuner.on_trial_begin = lambda trial: started.append(int(trial.trial_id))
    tuner.search(verbose=0)
    assert outcomes(tuner) == outcomes(undisturbed)
    assert len(outcomes(tuner)) == 5
    assert min(started) == (stop_at if where == "in a trial" else stop_at + 1)
