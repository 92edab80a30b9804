"""`Trainer` and `pretrain` that are killed in the middle of an epoch lose nothing."""

import os
import random
import subprocess
import sys
import time

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.fitting import seeded_fit as _seeded_fit
from tests.eager import eager_models
from tests.fresh_process import REPOSITORY
from tests.interruptions import Epochs, Stop
from tests.trainers import DATA, MATRICES, VALIDATION

X, X_VAL = (x.reshape(len(x), -1) for x in (DATA.x_train, DATA.x_val))
PAPER = csdl.Settings().replace(
    {
        "mlp.hidden_units": (12, 8),
        "mlp.batch_size": 40,
        "mlp.epochs": 4,
        "pretraining.epochs": 3,
        "mlp.patience": 3,
        "cnn.patience": 3,
        "mlp.min_steps": 1,
        "cnn.min_steps": 1,
    }
)
#: By name: an algorithm, what it is trained on, settings, and the epochs of its fits.
CASES = {
    "paper": ("csdnn", PAPER, DATA.x_train, VALIDATION),
    "stacked": ("ensemble_bayes", csdl.Settings().limit_epochs(4), X, (X_VAL, DATA.y_val)),
}


@pytest.fixture(autouse=True)
def write_every_epoch(monkeypatch):
    monkeypatch.setattr(_seeded_fit, "SECONDS", 0.0)


def train(case, folder, *callbacks):
    """Trains with a cache in the folder, or with none; all weights."""
    name, settings, x, validation = CASES[case]
    trainer = csdl.Trainer(
        x,
        DATA.y_train,
        validation_data=validation,
        settings=settings,
        seed=0,
        callbacks=callbacks,
        cache=None if folder is None else csdl.StageCache(folder),
    )
    return trainer.train(name, MATRICES[0]).model.get_weights()


@pytest.fixture(scope="module", params=CASES)
def case(request):
    return request.param


@pytest.fixture(scope="module")
def undisturbed(case):
    """The weights, and the epochs of each fit."""
    epochs = Epochs()
    with eager_models():
        return train(case, None, epochs), epochs.begun


def files(folder):
    return sorted(path.suffix for path in folder.rglob("*") if path.is_file())


class TestTrainer:
    def test_what_is_undisturbed(self, case, undisturbed):
        expected = [[0, 1, 2], [0, 1, 2]] if case == "paper" else []
        assert undisturbed[1][:-1] == expected and len(undisturbed[1][-1]) > 2

    def test_a_folder_changes_nothing(self, case, undisturbed, tmp_path, nothing_lost):
        with eager_models():
            found = train(case, tmp_path)
        nothing_lost(f"{case}, not at all", found, undisturbed[0], times=0)
        stages = 2 if case == "paper" else 1
        assert files(tmp_path) in ([".npz"] * stages, sorted([".npz", ".lock"] * stages))

    def test_interrupted_in_every_epoch(self, case, undisturbed, tmp_path, nothing_lost):
        """By an exception, in each epoch of each fit; it takes up that very epoch."""
        places = [(number, epoch) for number, it in enumerate(undisturbed[1]) for epoch in it]
        with eager_models():
            for before, (number, epoch) in zip([(0, 0), *places], places, strict=False):
                noted = Epochs()
                with pytest.raises(InterruptedError):
                    # Fits that are done are not run again: the one before is the first of these.
                    train(case, tmp_path, noted, Stop(number - before[0], epoch))
                assert noted.begun[0][0] == before[1]
            last = Epochs()
            found = train(case, tmp_path, last)
        assert last.begun == [[undisturbed[1][-1][-1]]]
        how = f"{case}, by an exception in every epoch"
        nothing_lost(how, found, undisturbed[0], times=len(places))
        assert not list(tmp_path.rglob("*.unfinished"))


KILLED = """
from tests.unfinished_stages_test import _seeded_fit, train
from tests.interruptions import Stop

_seeded_fit.SECONDS = 0.0
print("started", flush=True)
train({case!r}, {folder!r}, Stop({fit}, {epoch}, kill=True))
"""


def environment():
    return {
        **os.environ,
        "KERAS_BACKEND": keras.backend.backend(),
        "PYTHONPATH": str(REPOSITORY),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }


def kill(case, folder, fit, epoch):
    """Trains in a process of its own, which is killed in the middle of that epoch."""
    code = KILLED.format(case=case, folder=str(folder), fit=fit, epoch=epoch)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, timeout=300
    )
    assert done.returncode == -9, done.stderr


@pytest.fixture(scope="module")
def expected():
    """Of networks that are compiled, as in the processes that are killed."""
    return {case: train(case, None) for case in CASES}


class TestKilled:
    @pytest.mark.parametrize(
        "killed,place,begun,how",
        [
            ("paper", (1, 2), [[2], [0, 1, 2]], "kill -9 in pre-training of layer 2"),
            ("paper", (2, 1), [[1, 2]], "kill -9 in training"),
            pytest.param(
                *("stacked", (0, 2), [[2, 3]], "kill -9 in stacked training"),
                marks=pytest.mark.slow,
            ),
        ],
    )
    def test_in_the_middle_of_an_epoch(
        self, killed, place, begun, how, expected, tmp_path, nothing_lost
    ):
        kill(killed, tmp_path, *place)
        epochs = Epochs()
        found = train(killed, tmp_path, epochs)
        nothing_lost(how, found, expected[killed])
        assert [one[0] for one in epochs.begun] == [one[0] for one in begun]
        assert not list(tmp_path.rglob("*.unfinished"))

    @pytest.mark.slow
    def test_in_every_epoch(self, expected, tmp_path, nothing_lost):
        """As in `TestTrainer`, but in processes of their own."""
        for killed, fits in (("paper", [3, 3, 4]), ("stacked", [4])):
            places = [(number, epoch) for number, size in enumerate(fits) for epoch in range(size)]
            for before, (number, epoch) in zip([(0, 0), *places], places, strict=False):
                kill(killed, tmp_path, number - before[0], epoch)
            how, found = f"{killed}, kill -9 in every epoch", train(killed, tmp_path)
            nothing_lost(how, found, expected[killed], times=len(places))

    @pytest.mark.slow
    @pytest.mark.parametrize("number", range(5))
    def test_at_any_moment(self, number, expected, tmp_path, nothing_lost):
        """Whenever it happens to be, in writing as well."""
        code = KILLED.format(case="paper", folder=str(tmp_path), fit=-1, epoch=0)
        process = subprocess.Popen(
            [sys.executable, "-c", code], env=environment(), stdout=subprocess.PIPE, text=True
        )
        with process:
            assert process.stdout.readline() == "started\n"
            time.sleep(random.uniform(0.0, 3.0))
            process.kill()
        nothing_lost("kill -9 at any moment", train("paper", tmp_path), expected["paper"])


class TestPretrain:
    def pretrain(self, cache, *callbacks, **arguments):
        model = csdl.models.mlp((64,), 10, (8, 6), seed=0)
        arguments = {"costs": MATRICES[0][DATA.y_train] / 50, "beta": 0.5, "seed": 4, **arguments}
        with eager_models():
            histories = csdl.pretrain(
                model,
                X,
                epochs=3,
                batch_size=50,
                verbose=0,
                cache=cache,
                callbacks=callbacks,
                **arguments,
            )
        return model.get_weights(), [history.history for history in histories]

    @pytest.mark.parametrize(
        "layer,epoch,arguments",
        [
            *[(layer, epoch, {}) for layer in (0, 1) for epoch in (0, 1, 2)],
            (1, 2, {"steps_per_epoch": 3, "tied": True}),
            (0, 1, {"beta": 0.0, "costs": None}),
            (0, 2, {"unlabelled": X_VAL, "reconstruction": "squared_error"}),
        ],
    )
    def test_interrupted(self, layer, epoch, arguments, tmp_path, nothing_lost):
        expected, histories = self.pretrain(None, **arguments)
        with pytest.raises(InterruptedError):
            self.pretrain(csdl.StageCache(tmp_path), Stop(layer, epoch), **arguments)
        epochs = Epochs()
        found, told = self.pretrain(csdl.StageCache(tmp_path), epochs, **arguments)
        nothing_lost("pretrain, by an exception", found, expected)
        for one, other in zip(told, histories, strict=True):
            for name in one:
                np.testing.assert_allclose(one[name], other[name], rtol=1e-6)
        assert epochs.begun[0][0] == epoch and len(epochs.begun) == 2 - layer
        assert not list(tmp_path.rglob("*.unfinished"))

    def test_the_seed_decides_whatever_was_drawn_before(self):
        found = []
        for seed in (1, 2):
            keras.utils.set_random_seed(seed)
            found.append(self.pretrain(None)[0])
        assert all(map(np.array_equal, *found))
        other = self.pretrain(None, seed=5)[0]
        assert max(np.abs(a - b).max() for a, b in zip(other, found[0], strict=True)) > 1e-3


def test_a_process_of_several_takes_up_what_another_run_left(expected, tmp_path, nothing_lost):
    """What joblib's workers are sent names the folder; run here, in this process."""
    name, settings, x, validation = CASES["paper"]
    with pytest.raises(InterruptedError):
        train("paper", tmp_path, Stop(2, 2))
    epochs, cache = Epochs(), csdl.StageCache(tmp_path)
    arguments = {"settings": settings, "seed": 0, "cache": cache, "callbacks": [epochs]}
    trainer = csdl.Trainer(x, DATA.y_train, validation, **arguments)
    (recipe,) = trainer._members(name, MATRICES[0], None)
    run, _, *work = trainer._stages._next_stage(recipe).task
    found = run(trainer._stages, *work).arrays
    assert epochs.begun == [[2, 3]]
    nothing_lost("a process of several, by an exception", found, expected["paper"])
