"""`Resume` with every callback of Keras: nothing is lost in any epoch."""

import functools

import keras
import numpy as np
import pytest
from keras.callbacks import (
    CSVLogger,
    EarlyStopping,
    LambdaCallback,
    LearningRateScheduler,
    ModelCheckpoint,
    ReduceLROnPlateau,
    SwapEMAWeights,
)

from csdl_keras import Resume, ShuffledBatches
from tests.support.interruptions import Stop
from tests.support.resumed_fits import EPOCHS, Warm, X, Y, check, fit, interrupt, network

MONITOR = {"monitor": "score", "mode": "min"}
#: Cases that run without `-m slow`.
QUICK = ("LearningRateScheduler and others", "SwapEMAWeights, swap_on_epoch", "CSVLogger")
SLOW = pytest.mark.slow


def change_rate(when):
    """Returns a callback that multiplies the learning rate at that moment."""
    held = []

    def change(*args, **kwargs):
        optimizer = held[0].model.optimizer  # On JAX, access to the model updates its variables.
        rate = float(keras.ops.convert_to_numpy(optimizer.learning_rate))
        optimizer.learning_rate = 0.9 * rate

    held.append(LambdaCallback(**{when: change}))
    return held[0]


def multiply_rate():
    return LearningRateScheduler(lambda epoch, rate: 0.7 * rate)


stop_early = functools.partial(EarlyStopping, patience=2, **MONITOR)
reduce_rate = functools.partial(ReduceLROnPlateau, factor=0.5, patience=1, **MONITOR)
save = functools.partial(ModelCheckpoint, **MONITOR)
MOMENTS = ("on_epoch_begin", "on_epoch_end", "on_train_begin", "on_train_batch_end")
#: Functions that make the callbacks of a fit in a folder; names begin with the class.
CASES = {
    "EarlyStopping": lambda _: [stop_early(restore_best_weights=True)],
    "EarlyStopping, start_from_epoch": lambda _: [stop_early(start_from_epoch=1)],
    "EarlyStopping, baseline": lambda _: [stop_early(baseline=2.5, min_delta=0.1)],
    "ReduceLROnPlateau": lambda _: [reduce_rate()],
    "ReduceLROnPlateau, cooldown": lambda _: [reduce_rate(cooldown=1, min_lr=1e-3)],
    "LearningRateScheduler": lambda _: [multiply_rate()],
    "LearningRateScheduler and others": lambda _: [stop_early(), multiply_rate(), reduce_rate()],
    "ModelCheckpoint": lambda folder: [save(folder / "best.keras", save_best_only=True)],
    "ModelCheckpoint, save_freq": lambda folder: [
        save(folder / "a.weights.h5", save_weights_only=True, save_freq=3)
    ],
    "SwapEMAWeights": lambda _: [SwapEMAWeights()],
    "SwapEMAWeights, swap_on_epoch": lambda _: [SwapEMAWeights(swap_on_epoch=True)],
    "CSVLogger": lambda folder: [CSVLogger(folder / "log.csv")],
    "CSVLogger, append": lambda folder: [CSVLogger(folder / "log.csv", append=True)],
    "TerminateOnNaN": lambda _: [keras.callbacks.TerminateOnNaN()],
    "LambdaCallback": lambda _: [change_rate(moment) for moment in MOMENTS],
    "History": lambda _: [keras.callbacks.History()],
    "Callback": lambda _: [Warm()],
}
#: Callbacks of Keras that do not affect results, or that `Resume` refuses.
OTHERS = {"BackupAndRestore", "CallbackList", "ProgbarLogger", "RemoteMonitor", "TensorBoard"}
OTHERS |= {"OrbaxCheckpoint"}  # It needs packages that the tests do not install.


def test_every_callback_of_keras_is_here():
    kinds = {name for name, kind in vars(keras.callbacks).items() if isinstance(kind, type)}
    assert kinds <= OTHERS | CASES.keys()


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=SLOW)])
@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=SLOW) for name in CASES]
)
def test_callbacks(name, every, tmp_path, nothing_lost):
    """Interrupts in the last epoch, or in every epoch and behind the end, with `Resume` first."""
    make = CASES[name]
    expected = fit(tmp_path / "undisturbed", make, first=every)
    last = len(expected[1].epoch)
    epochs = range(last) if every else [last - 1]
    found = interrupt(tmp_path / "fit", epochs, make, first=every)
    check(nothing_lost, "callbacks", found, expected, len(epochs))
    if every:
        again = fit(tmp_path / "fit", make, first=every)
        check(nothing_lost, "callbacks, behind the end", again, expected, 1)


def test_another_patience_is_used(tmp_path):
    """The arguments of callbacks are no part of the state."""
    with pytest.raises(InterruptedError):
        fit(tmp_path, lambda _: [stop_early()], stop=[Stop(0, 2)])
    patient = stop_early(patience=9)
    _, history, _, _ = fit(tmp_path, lambda _: [patient])
    assert len(history.epoch) == EPOCHS and (patient.patience, patient.wait) == (9, 3)


class Within(keras.callbacks.Callback):
    """Passes everything on to another callback."""

    def __init__(self, other):
        super().__init__()
        self.set_params = other.set_params
        self.set_model = other.set_model


def test_refuses_other_callbacks(tmp_path):
    batches = ShuffledBatches(X, Y, batch_size=25)
    resume = Resume(tmp_path / "fit.npz", batches)
    backup = keras.callbacks.BackupAndRestore(tmp_path / "backup")
    rows = tmp_path / "log.csv"
    rows.write_text("epoch,loss\n")
    model = network("sgd")
    before = model.get_weights()
    for others, message in [
        ([backup, resume], "received Resume and BackupAndRestore"),
        ([Resume(tmp_path / "b.npz", batches), resume], "received Resume and Resume"),
        ([Within(resume)], "inside another callback"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.fit(batches, callbacks=[CSVLogger(rows), *others], verbose=0)
        assert all(map(np.array_equal, before, model.get_weights()))
        assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]
        assert rows.read_text() == "epoch,loss\n"
