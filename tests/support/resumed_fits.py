"""Small fits with `Resume` that are interrupted and continued, and comparisons of their results."""

import keras
import numpy as np
import pytest

from csdl_keras import Resume, ShuffledBatches
from tests.support.eager import eager_models
from tests.support.interruptions import TOLERANCE, Stop

EPOCHS = 5
#: The monitored scores by epoch; they get worse after the second one.
SCORES = (3.0, 2.0, 4.0, 4.0, 5.0)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4)).astype("float32")
Y = (X[:, :1] * X[:, 1:2] > 0).astype("float32")


class Scores(keras.callbacks.Callback):
    """Logs the score that other callbacks monitor."""

    def on_epoch_end(self, epoch, logs=None):
        logs["score"] = SCORES[epoch]


def adam(**arguments):
    return keras.optimizers.Adam(0.05, **arguments)


def network(optimizer):
    keras.utils.set_random_seed(1)
    layers = [keras.layers.Dense(6, "relu"), keras.layers.BatchNormalization()]
    layers += [keras.layers.Dropout(0.3), keras.layers.Dense(1, "sigmoid")]
    model = keras.Sequential([keras.Input((4,)), *layers])
    model.compile(optimizer, "binary_crossentropy", metrics=["accuracy"])
    return model


def fit(folder, make=lambda folder: [], optimizer=None, stop=(), epochs=EPOCHS, **own):
    """Fits a new network from the state in the folder; all variables, and the history."""
    folder.mkdir(exist_ok=True)
    with eager_models():
        model = network(optimizer() if optimizer else adam(use_ema=True, ema_momentum=0.5))
        batches = ShuffledBatches(X, Y, batch_size=25, seed=3, **own)
        callbacks = make(folder)
        resume = Resume(folder / "fit.npz", batches, callbacks)
        ordered = [resume, Scores(), *callbacks, *stop]
        history = model.fit(batches, epochs=epochs, callbacks=ordered, verbose=0)
    arrays = [*model.weights, *model.optimizer.variables]
    return [keras.ops.convert_to_numpy(one) for one in arrays], history


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
