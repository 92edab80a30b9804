"""A folder holds one search: no other takes up its trials, and no two processes add to it."""

import json
import os
import subprocess
import sys

import keras
import keras_tuner
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras import tuning
from tests.support.eager import eager_models
from tests.support.fresh_process import REPOSITORY
from tests.tuning.searches import FIT, TRAIN, VALIDATION, C, X, Y, outcomes, small

OBJECTIVE = keras_tuner.Objective("val_average_cost", "min")
OTHER_COSTS = np.array([[0.0, 2.0, 5.0], [10.0, 0.0, 3.0], [2.0, 7.0, 0.0]])
STOP = keras.callbacks.EarlyStopping("val_average_cost", mode="min", patience=5)


def function(hp):
    return keras.Sequential([keras.Input((6,)), keras.layers.Dense(3)])


def made(folder, tuner_class=tuning.RandomSearch, hyper_model=None, max_trials=1, **arguments):
    hyper_model = hyper_model or small("dnn_sosr")
    common = {"objective": OBJECTIVE, "max_trials": max_trials, "seed": 1, "directory": folder}
    return tuner_class(hyper_model, **{**common, **arguments})


def search(tuner, x=X, y=Y, **arguments):
    data = {"validation_data": (x[VALIDATION], y[VALIDATION]), "callbacks": [STOP], **FIT}
    tuner.search(x[TRAIN], y[TRAIN], **{**data, **arguments})
    return tuner


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with a search of one trial, and its files."""
    folder = tmp_path_factory.mktemp("search")
    with eager_models():
        search(made(folder))
    return folder, contents(folder)


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*.json")}


@pytest.fixture
def untrained(monkeypatch):
    """Nothing may be trained."""

    def fit(*args, **kwargs):
        raise AssertionError("trained")

    monkeypatch.setattr(keras.Model, "fit", fit)


class TestRefuses:
    @pytest.mark.parametrize(
        "arguments,told",
        [
            ({"hyper_model": small("dnn_sosr", cost_matrix=OTHER_COSTS)}, "cost_matrix '3 x 3"),
            ({"hyper_model": small("dnn_bayes")}, "algorithm 'dnn_sosr', not 'dnn_bayes'"),
            ({"hyper_model": small("dnn_sosr", seed=3)}, "seed 0, not 3"),
            ({"hyper_model": small("dnn_sosr", units=6)}, "units 5, not 6"),
            ({"hyper_model": small("dnn_sosr", depth=tuning.Range(1, 2))}, r"depth \[1, 2\], not"),
            (
                {"hyper_model": small("dnn_sosr", learning_rate={"sgd": 0.1})},
                r"learning_rate .*0.5.*, not \{'sgd': 0.1\}",
            ),
            ({"hyper_model": function}, "hyper_model '.*CSDNNHyperModel', not"),
            ({"seed": 2}, "tuner_seed 1, not 2"),
            ({"tuner_class": tuning.GridSearch}, "tuner 'RandomSearch', not 'GridSearch'"),
            ({"executions_per_trial": 2}, "executions_per_trial 1, not 2"),
            (
                {"objective": keras_tuner.Objective("val_loss", "min")},
                "objective .*val_average_cost.*not .*val_loss",
            ),
            ({"optimizer": "adam"}, "tuner_optimizer None, not 'adam'"),
        ],
    )
    @pytest.mark.parametrize("trials", [1, 2])
    def test_another_tuner(self, arguments, told, trials, finished, untrained):
        """As soon as it is made, whether there are trials left or not."""
        folder, before = finished
        with pytest.raises(ValueError, match=f"the same costs, data and choices; .*{told}"):
            made(folder, max_trials=trials, **arguments)
        assert contents(folder) == before

    @pytest.mark.parametrize(
        "arguments,told",
        [
            ({"x": X * 0.5}, "x '60 x 6 float32 .*', not '60 x 6 float32"),
            ({"y": (Y + 1) % 3}, "y '60 int64 "),
            ({"validation_data": (X[VALIDATION], (Y[VALIDATION] + 1) % 3)}, "validation_data"),
            ({"epochs": 3}, "epochs 2, not 3"),
            ({"batch_size": 10}, "batch_size 20, not 10"),
            ({"batch_size": None}, "batch_size 20, not None"),
            ({"sample_weight": np.ones(60)}, "sample_weight None, not '60 float64"),
            ({"steps_per_epoch": 2}, "steps_per_epoch None, not 2"),
            ({"callbacks": []}, "EarlyStopping .*, not None"),
            (
                {"callbacks": [keras.callbacks.EarlyStopping("val_average_cost", mode="min")]},
                "EarlyStopping",
            ),
        ],
    )
    @pytest.mark.parametrize("trials", [1, 2])
    def test_other_data_and_arguments(self, arguments, told, trials, finished, untrained):
        """As soon as it searches, whether there are trials left or not."""
        folder, before = finished
        tuner = made(folder, max_trials=trials)
        with pytest.raises(ValueError, match=f"the same costs, data and choices; .*{told}"):
            search(tuner, **arguments)
        assert contents(folder) == before

    def test_a_folder_of_which_nothing_is_known(self, tmp_path, untrained, finished):
        folder, _ = finished
        record = folder / "untitled_project" / "search.json"
        content = record.read_bytes()
        record.unlink()
        try:
            with pytest.raises(ValueError, match="received one without a record of them"):
                made(folder)
        finally:
            record.write_bytes(content)

    @pytest.mark.parametrize("name", ["RandomSearch", "BayesianOptimization"])
    def test_keras_tuners_own(self, name, tmp_path):
        """As soon as a trial begins; before, they ask a HyperModel for nothing."""

        def make(max_trials, **arguments):
            hyper_model = small("dnn_sosr", learning_rate=tuning.Range(0.1, 0.5), **arguments)
            return made(tmp_path, getattr(keras_tuner, name), hyper_model, max_trials)

        done = outcomes(search(make(1)))
        with pytest.raises(keras_tuner.errors.FatalValueError, match="cost_matrix '3 x 3"):
            search(make(2, cost_matrix=OTHER_COSTS))
        with pytest.raises(keras_tuner.errors.FatalValueError, match="batch_size 20, not 10"):
            search(make(2), batch_size=10)
        found = outcomes(search(make(2)))
        assert len(found) == 2 and found.items() >= done.items()


class TestTakesUp:
    def test_the_same_search_with_more_trials(self, finished):
        folder, _ = finished
        tuner = made(folder, hyper_model=small("dnn_sosr", cache=csdl.StageCache()), max_trials=2)
        log = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: None)
        search(tuner, X.copy(), Y.copy(), callbacks=[STOP, log])
        assert [status for status, *_ in outcomes(tuner).values()] == ["COMPLETED"] * 2

    def test_callbacks_that_have_been_used_or_tell_more(self, finished):
        folder, _ = finished
        stop = keras.callbacks.EarlyStopping("val_average_cost", mode="min", patience=5, verbose=1)
        model = small("dnn_sosr").build(keras_tuner.HyperParameters())
        validation = (X[VALIDATION], Y[VALIDATION])
        model.fit(X, Y, validation_data=validation, callbacks=[stop], verbose=0)
        search(made(folder), callbacks=[stop])
        other = keras.callbacks.EarlyStopping("val_average_cost", mode="min", min_delta=0.1)
        with pytest.raises(ValueError, match="EarlyStopping"):
            search(made(folder), callbacks=[other])

    @pytest.mark.parametrize("declared", [True, False])
    def test_hyperparameters_that_trials_add_to(self, declared, tmp_path):
        def build(hp):
            kind = hp.Choice("kind", ["a", "b"]) if declared else hp.get("kind")
            model = csdl.models.mlp((6,), 3, (hp.Int(f"units {kind}", 2, 4),), output="cost")
            metrics = [csdl.metrics.AverageCost(C)]
            model.compile("sgd", csdl.SOSRLoss(C), metrics=metrics)
            return model

        def given():
            hp = keras_tuner.HyperParameters()
            hp.Choice("kind", ["a", "b"])
            return {"hyper_model": build, "hyperparameters": hp}

        tuner = search(made(tmp_path, max_trials=3, **given()))
        search(tuner)
        again = search(made(tmp_path, max_trials=4, **given()))
        assert outcomes(again).items() > outcomes(tuner).items()

    def test_another_search_before_a_trial_has_ended(self, tmp_path):
        tuner = made(tmp_path)
        with pytest.raises(ValueError, match="received 3"):
            search(tuner, y=Y + 1)
        tuner = made(tmp_path, hyper_model=small("dnn_sosr", cost_matrix=OTHER_COSTS))
        assert [status for status, *_ in outcomes(search(tuner)).values()] == ["COMPLETED"]

    def test_another_search_that_overwrites(self, tmp_path):
        search(made(tmp_path))
        other = small("dnn_sosr", cost_matrix=OTHER_COSTS)
        search(made(tmp_path, hyper_model=other, overwrite=True))
        with pytest.raises(ValueError, match="cost_matrix"):
            made(tmp_path)

    def test_what_another_process_has_done_since(self, tmp_path):
        """Two tuners of which one searches first; no trial is run twice or lost."""
        first, second = made(tmp_path), made(tmp_path, max_trials=2)
        search(first)
        search(second)
        assert outcomes(second).items() > outcomes(first).items()


#: Searches until it is told to go on.
SEARCHES = """
import sys, keras
from csdl_keras import tuning
from tests.tuning.searches import search, small
class Wait(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        print("trains", flush=True)
        sys.stdin.readline()
tuner = tuning.RandomSearch(small("dnn_sosr"), max_trials=1, seed=1, directory=sys.argv[1])
search(tuner, callbacks=[Wait()])
"""


def test_two_processes(tmp_path):
    environment = {
        **os.environ,
        "KERAS_BACKEND": keras.backend.backend(),
        "PYTHONPATH": str(REPOSITORY),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    process = subprocess.Popen(
        [sys.executable, "-c", SEARCHES, str(tmp_path)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert any(line.startswith("trains") for line in process.stdout)
        before = contents(tmp_path)
        with pytest.raises(ValueError, match="no other search under way in .*untitled_project"):
            search(made(tmp_path), callbacks=[])
        with pytest.raises(ValueError, match="no other search under way"):
            made(tmp_path, overwrite=True)
        assert contents(tmp_path) == before
        process.kill()
    # The system has let go of what a killed process held.
    tuner = search(made(tmp_path), callbacks=[])
    assert [status for status, *_ in outcomes(tuner).values()] == ["COMPLETED"]


def test_the_record_is_readable(finished):
    folder, _ = finished
    record = json.loads((folder / "untitled_project" / "search.json").read_text())
    assert record["epochs"] == 2 and record["algorithm"] == "dnn_sosr"
    assert record["tuner"] == "RandomSearch" and record["cost_matrix"].startswith("3 x 3 float64")
