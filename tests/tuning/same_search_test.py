"""A folder holds one search: no other takes up its trials, and no two processes add to it."""

import json
import socket

import filelock
import keras
import keras_tuner
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras import tuning
from tests.support.eager import eager_models
from tests.support.fresh_process import start_python
from tests.tuning import searches
from tests.tuning.searches import VALIDATION, C, X, Y, outcomes, small, statuses

STOP = keras.callbacks.EarlyStopping("val_average_cost", mode="min", patience=5)


def function(hp):
    return keras.Sequential([keras.Input((6,)), keras.layers.Dense(3)])


def made(folder, hyper_model=None, **arguments):
    return searches.made(folder, hyper_model or small("dnn_sosr"), **arguments)


def search(tuner, x=X, y=Y, **arguments):
    return searches.search(tuner, x, y, **{"callbacks": [STOP], **arguments})


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with a search of one trial, and its files."""
    folder = tmp_path_factory.mktemp("search")
    with eager_models():
        search(made(folder))
    return folder, contents(folder)


def contents(folder):
    """All files of a search but that of the oracle, which a tuner writes when it is made."""
    files = [path for path in folder.rglob("*.json") if path.name != "oracle.json"]
    return {path: path.read_bytes() for path in files}


@pytest.mark.parametrize(
    "arguments",
    [
        {"hyper_model": small("dnn_sosr", cost_matrix=2 * C)},
        {"hyper_model": small("dnn_sosr", depth=tuning.Range(1, 2))},
        {"hyper_model": function},
        {"tuner_class": tuning.GridSearch},
        {"executions_per_trial": 2},
        {"objective": keras_tuner.Objective("val_loss", "min")},
        {"x": X * 0.5},
        {"validation_data": (X[VALIDATION], (Y[VALIDATION] + 1) % 3)},
        {"epochs": 3},
        {"callbacks": []},
    ],
)
def test_another_search_is_refused(arguments, finished):
    folder, before = finished
    of_search = {"x", "validation_data", "epochs", "callbacks"} & {*arguments}
    with pytest.raises(ValueError, match="different costs, data, settings"):
        search(made(folder, max_trials=2), **arguments) if of_search else made(folder, **arguments)
    assert contents(folder) == before


def test_other_settings_and_versions_are_refused(finished, monkeypatch):
    folder, _ = finished
    monkeypatch.setattr(keras.config, "epsilon", lambda: 1e-3)
    monkeypatch.setattr(keras, "__version__", "3.0.0")
    with pytest.raises(ValueError, match="or versions"):
        made(folder)


def test_the_same_search_takes_more_trials(finished):
    """With callbacks that have been used, or only observe, and a cache."""
    folder, _ = finished
    stop = keras.callbacks.EarlyStopping("val_average_cost", mode="min", patience=5, verbose=1)
    model = small("dnn_sosr").build(keras_tuner.HyperParameters())
    validation = (X[VALIDATION], Y[VALIDATION])
    model.fit(X, Y, validation_data=validation, callbacks=[stop], verbose=0)
    log = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: None)
    tuner = made(folder, small("dnn_sosr", cache=csdl.StageCache()), max_trials=10)
    assert list(outcomes(tuner)) == ["00"]  # Its name has more digits now.
    tuner = made(folder, max_trials=2)
    search(tuner, X.copy(), Y.copy(), callbacks=[stop, log])
    assert statuses(tuner) == ["COMPLETED"] * 2
    scores = [score for *_, score in outcomes(tuner).values()]
    for model, score in zip(tuner.get_best_models(2), sorted(scores), strict=True):
        np.testing.assert_allclose(searches.cost(model), score)


def test_what_another_process_has_done_since(tmp_path):
    """Two tuners of which one searches first; no trial is run twice or lost."""
    first, second = made(tmp_path), made(tmp_path, max_trials=2)
    search(first)
    search(second)
    assert outcomes(second).items() > outcomes(first).items()


def test_another_search_that_overwrites(tmp_path):
    search(made(tmp_path))
    other = small("dnn_sosr", cost_matrix=2 * C)
    assert statuses(search(made(tmp_path, other, overwrite=True))) == ["COMPLETED"]
    (tmp_path / "untitled_project" / "search.json").unlink()
    with pytest.raises(ValueError, match="different costs"):
        made(tmp_path, other)


#: Waits for a line of input whenever it begins to train.
SEARCHES = """
import sys, keras
from tests.tuning.searches import made, search, small
class Wait(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        print("trains", flush=True)
        sys.stdin.readline()
search(made(sys.argv[1], small("dnn_sosr"), max_trials=2), callbacks=[Wait()])
"""


@pytest.mark.slow
def test_two_processes(tmp_path):
    """The folder is locked while one searches; if that is killed, the other goes on."""
    folder, place = tmp_path / "killed", tmp_path / "undisturbed"
    with start_python(SEARCHES, folder) as process:
        for line in process.stdout:
            if not line.startswith("trains"):
                continue
            if any(folder.rglob("checkpoint*")):
                break
            with pytest.raises(filelock.Timeout, match="untitled_project_under_way"):
                search(made(folder), callbacks=[])
            print(file=process.stdin, flush=True)
        process.kill()  # In the second trial; the system releases its lock.
    tuner = made(folder, max_trials=2)
    assert statuses(tuner).count("COMPLETED") == 1
    undisturbed = search(made(place, max_trials=2), callbacks=[])
    assert outcomes(search(tuner, callbacks=[])) == outcomes(undisturbed)


#: A chief or a worker of KerasTuner, which share one search.
DISTRIBUTED = """
import json, os, sys
from csdl_keras import StageCache
from tests.tuning.searches import cost, made, outcomes, search, small

folder = sys.argv[1]
hyper_model = small(depth=1, cache=StageCache(folder + "/stages"))
tuner = search(made(folder, hyper_model, max_trials=4))
if "chief" in os.environ["KERASTUNER_TUNER_ID"]:
    trials = {name: [status, score] for name, (status, _, score) in outcomes(tuner).items()}
    print(json.dumps([trials, cost(tuner.get_best_models()[0])]))
"""


@pytest.mark.slow
def test_one_chief_and_two_workers(tmp_path):
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = str(place.getsockname()[1])
    oracle = {"KERASTUNER_ORACLE_IP": "127.0.0.1", "KERASTUNER_ORACLE_PORT": port}
    processes = {
        name: start_python(DISTRIBUTED, tmp_path, KERASTUNER_TUNER_ID=name, **oracle)
        for name in ("chief", "worker_0", "worker_1")
    }
    told = {name: process.communicate(timeout=300)[0] for name, process in processes.items()}
    assert [process.returncode for process in processes.values()] == [0, 0, 0]
    trials, cost = json.loads(told["chief"].splitlines()[-1])
    assert [status for status, _ in trials.values()] == ["COMPLETED"] * 4
    assert abs(cost - min(score for _, score in trials.values())) < 1e-6
