"""`Resume` beside every callback and optimizer of Keras: nothing is lost in any epoch."""

import csv

import keras
import numpy as np
import pytest

from csdl_keras import Resume, ShuffledBatches
from csdl_keras._callback_memory import digests
from tests.eager import eager_models
from tests.interruptions import TOLERANCE, Stop

EPOCHS = 5
#: Of the epochs; they get worse after the second one.
SCORES = (3.0, 2.0, 4.0, 4.0, 5.0)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 4)).astype("float32")
Y = (X[:, :1] * X[:, 1:2] > 0).astype("float32")
VALIDATION = (X[:20] + 0.1, Y[:20])
MONITOR = {"monitor": "score", "mode": "min"}
SLOW = pytest.mark.slow


class Scores(keras.callbacks.Callback):
    """What the others monitor."""

    def on_epoch_end(self, epoch, logs=None):
        logs["score"] = SCORES[epoch]


class Warm(keras.callbacks.Callback):
    """Of one's own: the rate follows from what it has seen, batch by batch."""

    def __init__(self):
        super().__init__()
        self.seen = {"batches": 0, "scores": []}

    def on_train_batch_begin(self, batch, logs=None):
        self.seen["batches"] += 1
        self.model.optimizer.learning_rate = 0.02 + 0.002 * self.seen["batches"]

    def on_epoch_end(self, epoch, logs=None):
        self.seen["scores"].append(np.float32(logs["score"]))
        for weight in self.model.trainable_weights:
            weight.assign(weight * (1.0 - 0.01 * len(self.seen["scores"])))


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


def adam(**arguments):
    return keras.optimizers.Adam(0.05, **arguments)


def decaying():
    return keras.optimizers.schedules.ExponentialDecay(0.1, decay_steps=3, decay_rate=0.5)


OPTIMIZERS = {
    "average": lambda: adam(use_ema=True, ema_momentum=0.5),
    "average, overwriting": lambda: adam(use_ema=True, ema_overwrite_frequency=2),
    "accumulation": lambda: adam(gradient_accumulation_steps=2),
    "schedule": lambda: keras.optimizers.SGD(decaying(), momentum=0.9),
    "clipnorm": lambda: adam(clipnorm=0.1, weight_decay=0.01),
    "global_clipnorm": lambda: adam(global_clipnorm=0.1, amsgrad=True),
    "loss scale": lambda: keras.optimizers.LossScaleOptimizer(adam(), dynamic_growth_steps=4),
    **{
        name: (lambda kind=kind: kind(learning_rate=0.05))
        for name, kind in vars(keras.optimizers).items()
        if isinstance(kind, type)
        and issubclass(kind, keras.optimizers.Optimizer)
        and name not in ("Optimizer", "LossScaleOptimizer", "MultiOptimizer")
    },
}
#: Those of either that run without `-m slow`.
QUICK = {
    "EarlyStopping",
    "LearningRateScheduler and others",
    "SwapEMAWeights, swap_on_epoch",
    "CSVLogger",
    "LambdaCallback",
    "Callback",
    "average",
    "accumulation",
    "schedule",
}


def network(optimizer):
    keras.utils.set_random_seed(1)
    layers = [keras.layers.Dense(6, "relu"), keras.layers.BatchNormalization()]
    layers += [keras.layers.Dropout(0.3), keras.layers.Dense(1, "sigmoid")]
    model = keras.Sequential([keras.Input((4,)), *layers])
    model.compile(optimizer, "binary_crossentropy", metrics=["accuracy"])
    return model


def fit(folder, make=lambda folder: [], optimizer=None, stop=(), first=False, epochs=EPOCHS):
    """Fits a new network with what is in the folder; what it comes to, to be compared."""
    folder.mkdir(exist_ok=True)
    with eager_models():
        model = network(optimizer() if optimizer else adam(use_ema=True, ema_momentum=0.5))
        batches = ShuffledBatches(X, Y, batch_size=20, seed=3)
        callbacks = make(folder)
        own = [one for one in callbacks if isinstance(one, Warm)]
        resume = Resume(folder / "fit.npz", batches, own)
        ordered = [resume, Scores(), *callbacks] if first else [Scores(), *callbacks, resume]
        history = model.fit(
            batches,
            epochs=epochs,
            validation_data=VALIDATION,
            callbacks=[*ordered, *stop],
            verbose=0,
        )
    arrays = [*model.weights, *model.optimizer.variables]
    memories = [
        {name: it for name, it in digests(one).items() if name not in ("params", "filepath")}
        for one in callbacks
        if not isinstance(one, keras.callbacks.CSVLogger)
    ]
    arrays = [keras.ops.convert_to_numpy(one) for one in arrays]
    return arrays, history, memories, files(folder)


def files(folder):
    """The numbers in the files of callbacks."""
    found = []
    for path in sorted(folder.glob("*.*")):
        if path.suffix == ".csv":
            rows = list(csv.reader(path.open(newline="")))
            found.append(np.array(rows[1:], float))
            assert [int(row[0]) for row in rows[1:]] == list(range(len(rows) - 1))
        elif path.suffix == ".keras":
            found += keras.saving.load_model(path).get_weights()
        elif path.suffix == ".h5":
            model = network(adam(use_ema=True, ema_momentum=0.5))
            model.load_weights(path)
            found += model.get_weights()
    return found


def interrupt(folder, at, *args, **kwargs):
    for epoch in at:
        with pytest.raises(InterruptedError):
            fit(folder, *args, stop=[Stop(0, epoch)], **kwargs)
    return fit(folder, *args, **kwargs)


def check(nothing_lost, how, found, expected, times):
    nothing_lost(how, found[0], expected[0], times)
    assert found[1].epoch == expected[1].epoch
    assert found[1].history.keys() == expected[1].history.keys()
    for name, values in expected[1].history.items():
        np.testing.assert_allclose(found[1].history[name], values, atol=TOLERANCE)
    assert [set(one) for one in found[2]] == [set(one) for one in expected[2]]
    for one, other in zip(found[2], expected[2], strict=True):
        assert one == other
    assert len(found[3]) == len(expected[3])
    for one, other in zip(found[3], expected[3], strict=True):
        np.testing.assert_allclose(one, other, atol=TOLERANCE)


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


@pytest.mark.parametrize("first", [False, pytest.param(True, marks=SLOW)])
@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=SLOW) for name in CASES]
)
def test_callbacks(name, first, tmp_path, nothing_lost):
    make = CASES[name]
    expected = fit(tmp_path / "undisturbed", make, first=first)
    last = len(expected[1].epoch)
    found = interrupt(tmp_path / "fit", range(last), make, first=first)
    check(nothing_lost, "callbacks, in every epoch", found, expected, last)
    # Behind its end, too, which is the last epoch once more.
    again = fit(tmp_path / "fit", make, first=first)
    check(nothing_lost, "callbacks, behind the end", again, expected, 1)


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=SLOW) for name in OPTIMIZERS],
)
def test_optimizers(name, tmp_path, nothing_lost):
    expected = fit(tmp_path / "undisturbed", optimizer=OPTIMIZERS[name], epochs=3)
    found = interrupt(tmp_path / "fit", (1, 2), optimizer=OPTIMIZERS[name], epochs=3)
    check(nothing_lost, "optimizers, in every epoch", found, expected, 2)


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
