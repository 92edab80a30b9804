"""`Resume` beside every callback of Keras: nothing is lost in any epoch."""

import keras
import numpy as np
import pytest

from csdl_keras import Resume, ShuffledBatches
from tests.support.interruptions import Stop
from tests.support.resumed_fits import EPOCHS, Warm, X, Y, check, fit, interrupt, network

MONITOR = {"monitor": "score", "mode": "min"}
#: Cases that run without `-m slow`.
QUICK = (
    "EarlyStopping",
    "LearningRateScheduler and others",
    "SwapEMAWeights, swap_on_epoch",
    "CSVLogger",
    "Callback",
)
SLOW = pytest.mark.slow


def change_rate(when):
    """A callback that multiplies the rate there."""
    held = []

    def change(*args, **kwargs):
        optimizer = held[0].model.optimizer  # on JAX, asking for the model updates its variables
        rate = float(keras.ops.convert_to_numpy(optimizer.learning_rate))
        optimizer.learning_rate = 0.9 * rate

    held.append(keras.callbacks.LambdaCallback(**{when: change}))
    return held[0]


def stop_early(**arguments):
    return keras.callbacks.EarlyStopping(patience=2, **MONITOR, **arguments)


def reduce_rate(**arguments):
    return keras.callbacks.ReduceLROnPlateau(factor=0.5, patience=1, **MONITOR, **arguments)


def multiply_rate():
    return keras.callbacks.LearningRateScheduler(lambda epoch, rate: 0.7 * rate)


#: What is fitted with, by name: of Keras' own callbacks the name is that of the class.
CASES = {
    "EarlyStopping": lambda folder: [stop_early(restore_best_weights=True)],
    "EarlyStopping, start_from_epoch": lambda folder: [stop_early(start_from_epoch=1)],
    "EarlyStopping, baseline": lambda folder: [stop_early(baseline=2.5, min_delta=0.1)],
    "ReduceLROnPlateau": lambda folder: [reduce_rate()],
    "ReduceLROnPlateau, cooldown": lambda folder: [reduce_rate(cooldown=1, min_lr=1e-3)],
    "LearningRateScheduler": lambda folder: [multiply_rate()],
    "LearningRateScheduler and others": lambda folder: [
        stop_early(),
        multiply_rate(),
        reduce_rate(),
    ],
    "ModelCheckpoint": lambda folder: [
        keras.callbacks.ModelCheckpoint(folder / "best.keras", save_best_only=True, **MONITOR)
    ],
    "ModelCheckpoint, save_freq": lambda folder: [
        keras.callbacks.ModelCheckpoint(
            folder / "a.weights.h5", save_weights_only=True, save_freq=4
        )
    ],
    "SwapEMAWeights": lambda folder: [keras.callbacks.SwapEMAWeights()],
    "SwapEMAWeights, swap_on_epoch": lambda folder: [
        keras.callbacks.SwapEMAWeights(swap_on_epoch=True)
    ],
    "CSVLogger": lambda folder: [keras.callbacks.CSVLogger(folder / "log.csv")],
    "CSVLogger, append": lambda folder: [
        keras.callbacks.CSVLogger(folder / "log.csv", append=True)
    ],
    "TerminateOnNaN": lambda folder: [keras.callbacks.TerminateOnNaN()],
    "LambdaCallback": lambda folder: [
        change_rate("on_epoch_begin"),
        change_rate("on_epoch_end"),
        change_rate("on_train_begin"),
        change_rate("on_train_batch_end"),
    ],
    "History": lambda folder: [keras.callbacks.History()],
    "Callback": lambda folder: [Warm()],
}
#: Callbacks of Keras on which no result depends, or that `Resume` refuses.
OTHERS = {
    "BackupAndRestore",
    "CallbackList",
    "ProgbarLogger",
    "RemoteMonitor",
    "TensorBoard",
    "OrbaxCheckpoint",  # needs packages that the tests do not install
}


def test_every_callback_of_keras_is_here():
    kinds = {
        name
        for name, kind in vars(keras.callbacks).items()
        if isinstance(kind, type) and issubclass(kind, keras.callbacks.Callback)
    }
    assert {name.partition(",")[0] for name in CASES} - {"LearningRateScheduler and others"} <= (
        kinds
    )
    assert kinds <= OTHERS | CASES.keys()


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=SLOW)])
@pytest.mark.parametrize("first", [False, pytest.param(True, marks=SLOW)])
@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=SLOW) for name in CASES]
)
def test_callbacks(name, first, every, tmp_path, nothing_lost):
    make = CASES[name]
    expected = fit(tmp_path / "undisturbed", make, first=first)
    last = len(expected[1].epoch)
    epochs = range(last) if every else (1, last - 1)
    found = interrupt(tmp_path / "fit", epochs, make, first=first)
    how = "callbacks, in every epoch" if every else "callbacks, in two epochs"
    check(nothing_lost, how, found, expected, len(epochs))
    # Behind its end, too, which is the last epoch once more.
    again = fit(tmp_path / "fit", make, first=first)
    check(nothing_lost, "callbacks, behind the end", again, expected, 1)


def test_another_patience_is_taken(tmp_path):
    """What callbacks were given is not what they remember."""
    with pytest.raises(InterruptedError):
        fit(tmp_path, lambda folder: [stop_early()], stop=[Stop(0, 2)])
    patient = keras.callbacks.EarlyStopping(patience=9, **MONITOR)
    _, history, _, _ = fit(tmp_path, lambda folder: [patient])
    assert len(history.epoch) == EPOCHS and (patient.patience, patient.wait) == (9, 3)


class Within(keras.callbacks.Callback):
    """Hands everything on to another callback."""

    def __init__(self, other):
        super().__init__()
        self.set_params = other.set_params
        self.set_model = other.set_model


def test_refuses_what_it_cannot_see_to(tmp_path):
    batches = ShuffledBatches(X, Y, batch_size=20)
    resume = Resume(tmp_path / "fit.npz", batches)
    backup = keras.callbacks.BackupAndRestore(tmp_path / "backup")
    rows = tmp_path / "log.csv"
    rows.write_text("epoch,loss\n")
    log = keras.callbacks.CSVLogger(rows)
    model = network("sgd")
    before = model.get_weights()
    for others, message in [
        ([backup, resume], "received Resume and BackupAndRestore"),
        ([Resume(tmp_path / "b.npz", batches), resume], "received Resume and Resume"),
        ([Within(resume)], "inside another callback"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.fit(batches, callbacks=[log, *others], verbose=0)
        assert all(map(np.array_equal, before, model.get_weights()))
        assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]
        assert rows.read_text() == "epoch,loss\n"
