"""A folder holds one search: no other takes up its trials, and no two processes add to it."""

import shutil

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

OTHER_COSTS = 2 * C
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
    return {path: path.read_bytes() for path in folder.rglob("*.json")}


@pytest.fixture
def untrained(monkeypatch):
    """Fails whatever begins to train."""
    monkeypatch.setattr(keras.Model, "fit", lambda *args, **kwargs: pytest.fail("trained"))


class TestRefuses:
    @pytest.mark.parametrize(
        "arguments,told",
        [
            ({"hyper_model": small("dnn_sosr", cost_matrix=OTHER_COSTS)}, "cost_matrix '3 x 3"),
            ({"hyper_model": small("dnn_bayes")}, "algorithm 'dnn_sosr', not 'dnn_bayes'"),
            ({"hyper_model": small("dnn_sosr", seed=3)}, "seed 0, not 3"),
            ({"hyper_model": small("dnn_sosr", depth=tuning.Range(1, 2))}, r"depth \[1, 2\], not"),
            (
                {"hyper_model": small("dnn_sosr", learning_rate={"sgd": 0.1})},
                r"learning_rate .*0.5.*, not \{'sgd': 0.1\}",
            ),
            ({"hyper_model": function}, "hyper_model '.*CSDNNHyperModel', not"),
            ({"seed": 2}, "tuner_seed 1, not 2"),
            ({"tuner_class": tuning.GridSearch}, "tuner 'RandomSearch', not 'GridSearch'"),
            ({"executions_per_trial": 2}, "executions_per_trial 1, not 2"),
            ({"objective": keras_tuner.Objective("val_loss", "min")}, "objective .*not .*val_loss"),
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
            ({"batch_size": None}, "batch_size 20, not None"),
            ({"sample_weight": np.ones(60)}, "sample_weight None, not '60 float64"),
            ({"callbacks": []}, "EarlyStopping .*, not None"),
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
        shutil.copytree(finished[0], tmp_path, dirs_exist_ok=True)
        (tmp_path / "untitled_project" / "search.json").unlink()
        with pytest.raises(ValueError, match="received one without a record of them"):
            made(tmp_path)

    def test_keras_tuners_own(self, tmp_path):
        """As soon as a trial begins; before, they ask a HyperModel for nothing."""

        def make(max_trials, **arguments):
            hyper_model = small("dnn_sosr", learning_rate=tuning.Range(0.1, 0.5), **arguments)
            kind = {"tuner_class": keras_tuner.RandomSearch}
            return made(tmp_path, hyper_model, max_trials=max_trials, **kind)

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
        tuner = made(folder, small("dnn_sosr", cache=csdl.StageCache()), max_trials=2)
        log = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: None)
        search(tuner, X.copy(), Y.copy(), callbacks=[STOP, log])
        assert statuses(tuner) == ["COMPLETED"] * 2

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

    def test_hyperparameters_that_trials_add_to(self, tmp_path):
        def build(hp):
            units = hp.Int(f"units {hp.get('kind')}", 2, 4)
            model = csdl.models.mlp((6,), 3, (units,), output="cost")
            model.compile("sgd", csdl.SOSRLoss(C), metrics=[csdl.metrics.AverageCost(C)])
            return model

        def make(max_trials):
            hp = keras_tuner.HyperParameters()
            hp.Choice("kind", ["a", "b"])
            return made(tmp_path, build, max_trials=max_trials, hyperparameters=hp)

        tuner = search(make(2))
        search(tuner)
        assert outcomes(search(make(3))).items() > outcomes(tuner).items()

    def test_what_another_process_has_done_since(self, tmp_path):
        """Two tuners of which one searches first; no trial is run twice or lost."""
        first, second = made(tmp_path), made(tmp_path, max_trials=2)
        search(first)
        search(second)
        assert outcomes(second).items() > outcomes(first).items()


def test_another_search_in_a_folder_without_results(tmp_path):
    """Before a trial has ended, or if it overwrites."""
    with pytest.raises(ValueError, match="received 3"):
        search(made(tmp_path), y=Y + 1)
    other = small("dnn_sosr", cost_matrix=OTHER_COSTS)
    assert statuses(search(made(tmp_path, other))) == ["COMPLETED"]
    assert statuses(search(made(tmp_path, overwrite=True))) == ["COMPLETED"]
    with pytest.raises(ValueError, match="cost_matrix"):
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
            before = contents(folder)
            with pytest.raises(ValueError, match="no other search under way in .*untitled_project"):
                search(made(folder), callbacks=[])
            with pytest.raises(ValueError, match="no other search under way"):
                made(folder, overwrite=True)
            assert contents(folder) == before
            print(file=process.stdin, flush=True)
        process.kill()  # In the second trial; the system releases its lock.
    tuner = made(folder, max_trials=2)
    assert statuses(tuner).count("COMPLETED") == 1
    undisturbed = search(made(place, max_trials=2), callbacks=[])
    assert outcomes(search(tuner, callbacks=[])) == outcomes(undisturbed)
