"""`Trainer` and `pretrain` that are killed in the middle of an epoch lose nothing."""

import functools
import random
import time

import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.fitting import fit as _fit_module
from tests.support.fresh_process import run_python, start_python
from tests.support.interruptions import Epochs, Stop
from tests.support.trainers import DATA, MATRICES, VALIDATION

X, X_VAL = (x.reshape(len(x), -1) for x in (DATA.x_train, DATA.x_val))
TABLE = csdl.Settings().limit_epochs(3).replace({"auto.batch_size": 100})
PAPER = TABLE.replace({"mlp.hidden_units": (12, 8), "mlp.patience": 2, "pretraining.epochs": 2})
#: By name: an algorithm, its settings, its data, and the number of epochs of its fits.
CASES = {
    "paper": ("csdnn", PAPER, DATA.x_train, VALIDATION, [2, 2, 3]),
    "table": ("calibrated_bayes", TABLE, X, (X_VAL, DATA.y_val), [3]),
    "images": ("calibrated_bayes", TABLE, DATA.x_train, VALIDATION, [3]),
}
pytestmark = pytest.mark.usefixtures("run_module_eagerly")


@pytest.fixture(autouse=True)
def write_every_epoch(monkeypatch):
    monkeypatch.setattr(_fit_module, "_SECONDS", 0.0)


def make_trainer(case, folder, *callbacks):
    _, settings, x, validation, _ = CASES[case]
    cache = None if folder is None else csdl.StageCache(folder)
    arguments = {"settings": settings, "seed": 0, "callbacks": callbacks, "cache": cache}
    return csdl.Trainer(x, DATA.y_train, validation, **arguments)


def train(case, folder, *callbacks):
    """Trains with a cache in the folder, or with none; all weights."""
    trainer = make_trainer(case, folder, *callbacks)
    return trainer.train(CASES[case][0], MATRICES[0]).model.get_weights()


@pytest.fixture(scope="module")
def expected(run_module_eagerly):
    return functools.cache(lambda case: train(case, None))


@pytest.mark.parametrize(
    "case", ["table", *(pytest.param(case, marks=pytest.mark.slow) for case in ("paper", "images"))]
)
def test_interrupted_in_every_epoch(case, expected, tmp_path, nothing_lost):
    """By an exception, in each epoch of each fit; it takes up that very epoch."""
    sizes = CASES[case][-1]
    places = [(fit, epoch) for fit, size in enumerate(sizes) for epoch in range(size)]
    for before, (fit, epoch) in zip([(0, 0), *places], places, strict=False):
        noted = Epochs()
        with pytest.raises(InterruptedError):
            # Fits that are done are not run again: the one before is the first of these.
            train(case, tmp_path, noted, Stop(fit - before[0], epoch))
        assert noted.begun[0][0] == before[1]
    last = Epochs()
    found = train(case, tmp_path, last)
    assert last.begun == [[2]]
    how = f"{case}, by an exception in every epoch"
    nothing_lost(how, found, expected(case), times=len(places))
    assert not list(tmp_path.rglob("*.unfinished"))
    assert len(list(tmp_path.rglob("*.npz"))) == (2 if case == "paper" else 1)


KILLED = """
print("started", flush=True)
from tests.support.eager import eager_models
from tests.support.interruptions import Stop
from tests.training.interrupted_test import _fit_module, train

_fit_module._SECONDS = 0.0
with eager_models():
    train({case!r}, {folder!r}, Stop({fit}, {epoch}, kill=True))
"""


def killed_run(case, folder, fit, epoch):
    """Code that trains until it kills itself in the middle of that epoch."""
    return KILLED.format(case=case, folder=str(folder), fit=fit, epoch=epoch)


class TestKilled:
    @pytest.mark.parametrize(
        "case,place,begun",
        [("paper", (1, 1), [1, 0]), pytest.param("table", (0, 2), [2], marks=pytest.mark.slow)],
    )
    def test_in_the_middle_of_an_epoch(self, case, place, begun, expected, tmp_path, nothing_lost):
        run_python(killed_run(case, tmp_path, *place), exit_code=-9)
        epochs = Epochs()
        found = train(case, tmp_path, epochs)
        nothing_lost(f"{case}, kill -9 in fit {place[0]}", found, expected(case))
        assert [one[0] for one in epochs.begun] == begun
        assert not list(tmp_path.rglob("*.unfinished"))

    @pytest.mark.slow
    def test_at_any_moment(self, expected, tmp_path, nothing_lost):
        """Whenever it happens to be, in writing as well."""
        with start_python(killed_run("paper", tmp_path, -1, 0)) as process:
            assert process.stdout.readline() == "started\n"
            time.sleep(random.uniform(0.0, 12.0))
            process.kill()
        nothing_lost("kill -9 at any moment", train("paper", tmp_path), expected("paper"))


class TestPretrain:
    def pretrain(self, cache, *callbacks, **arguments):
        model = csdl.models.mlp((64,), 10, (8, 6), seed=0)
        arguments = {"costs": MATRICES[0][DATA.y_train] / 50, "beta": 0.5, "seed": 4, **arguments}
        arguments |= {"epochs": 3, "batch_size": 100, "verbose": 0, "callbacks": callbacks}
        histories = csdl.pretrain(model, X, cache=cache, **arguments)
        return model.get_weights(), [history.history for history in histories]

    @pytest.mark.parametrize(
        "layer,epoch,arguments", [(0, 0, {}), (1, 2, {"tied": True, "unlabelled": X_VAL})]
    )
    def test_interrupted(self, layer, epoch, arguments, tmp_path, nothing_lost):
        expected, histories = self.pretrain(None, **arguments)
        with pytest.raises(InterruptedError):
            self.pretrain(csdl.StageCache(tmp_path), Stop(layer, epoch), **arguments)
        epochs = Epochs()
        found, resumed = self.pretrain(csdl.StageCache(tmp_path), epochs, **arguments)
        nothing_lost("pretrain, by an exception", found, expected)
        for one, other in zip(resumed, histories, strict=True):
            for name in one:
                np.testing.assert_allclose(one[name], other[name], rtol=1e-6)
        assert epochs.begun[0][0] == epoch and len(epochs.begun) == 2 - layer
        assert not list(tmp_path.rglob("*.unfinished"))
