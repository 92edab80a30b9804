"""Stops training that diverges and names the likely causes."""

import math

import keras
from keras import ops

from csdl_keras._utils.checks import check_type


class DivergedError(FloatingPointError):
    """Training reached NaN or infinity, so that there is no model.

    Args:
        message: the error message.
        epoch: the epoch in which training diverged, counted from 1. Defaults to 0 (unknown).

    Example:

    >>> DivergedError("Expected a finite loss; received nan in epoch 3.", epoch=3).epoch
    3
    """

    def __init__(self, message: str, epoch: int = 0):
        super().__init__(message)
        self.epoch = epoch


class RaiseOnDivergence(keras.callbacks.Callback):
    """Raises `DivergedError` when a loss, or a final weight, is NaN or infinite.

    `keras.callbacks.TerminateOnNaN` ends such a training without an error, so that a model of NaN
    is evaluated or saved. This callback checks losses after each epoch and weights after the last
    one, so that no step waits for a value. Pass it as the last callback, after one that restores
    the weights of the best epoch. `Trainer`, `train` and `pretrain` add it to every `fit`.

    Args:
        what: name of the training in the message. `None` (default) uses the model's name.

    Raises:
        ValueError: if `what` is not a string or `None`.
        DivergedError: during `fit`, with the epoch and the likely causes.

    Example:

    >>> import numpy as np
    >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
    >>> model.compile(keras.optimizers.SGD(1e30), loss="mean_squared_error")
    >>> x, y = np.ones((64, 4)), np.zeros((64, 3))
    >>> history = model.fit(x, y, epochs=3, callbacks=[RaiseOnDivergence()], verbose=0)
    Traceback (most recent call last):
    csdl_keras.fitting.divergence.DivergedError: Expected ...
    """

    observes_only = True

    def __init__(self, what: str | None = None):
        super().__init__()
        if what is not None:
            check_type("what", what, str, "a string or None")
        self.what = what

    def on_train_begin(self, logs: dict[str, float] | None = None) -> None:
        self._epoch = 0

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        self._epoch = epoch + 1
        for name in ("loss", "val_loss"):
            value = float((logs or {}).get(name, 0.0))
            if not math.isfinite(value):
                self._fail(f"a finite `{name}`", str(value))

    def on_train_end(self, logs: dict[str, float] | None = None) -> None:
        for weight in self.model.weights:
            if not bool(ops.all(ops.isfinite(ops.cast(weight, "float32")))):
                self._fail("finite weights", f"NaN or infinity in {weight.path!r}")

    def _fail(self, expected: str, received: str) -> None:
        rate = float(ops.convert_to_numpy(self.model.optimizer.learning_rate))
        raise DivergedError(
            f"Expected {expected} in training {self.what or repr(self.model.name)}; received "
            f"{received} in epoch {self._epoch}: the training diverged. Likely causes: a learning "
            f"rate that is too high (it is {rate:.3g}); costs far above 1 (divide them by their "
            "largest, or pass `cost_scale` to losses and `pretrain`); large inputs that are "
            "not standardised; one-hot rows in place of cost vectors.",
            self._epoch,
        )
