"""Calls `fit` with seeded batches, for all training in the package."""

import math
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.streams import StoredRows
from csdl_keras._utils.types import ArrayLike
from csdl_keras.fitting.resume import Arrays, Resume, SeededEpochs, ShuffledBatches

#: Minimum seconds between two saves of the state, each of which takes up to a second.
_SECONDS = 30.0
#: Keras' callbacks that do not change the training. Subclasses may change it.
_OBSERVERS = (
    keras.callbacks.CSVLogger,
    keras.callbacks.History,
    keras.callbacks.ModelCheckpoint,
    keras.callbacks.OrbaxCheckpoint,
    keras.callbacks.ProgbarLogger,
    keras.callbacks.RemoteMonitor,
    keras.callbacks.TensorBoard,
)


def executed_steps(examples: int, batch_size: int) -> int:
    """Returns `steps_per_execution` of `keras.Model.compile` for arrays; 1 on PyTorch."""
    if keras.backend.backend() == "torch":
        return 1
    if keras.backend.backend() == "tensorflow":
        from tensorflow import distribute  # Keras has imported it.

        if distribute.has_strategy():  # Replicas cannot end several steps at once.
            return 1
    # More steps are hardly faster, and delay Ctrl-C.
    return min(32, math.ceil(examples / batch_size))


def follows_seed(x: object, arguments: Mapping[str, object]) -> bool:
    """Returns whether `seeded_fit` shuffles `x`: it does for arrays, unless arguments forbid it."""
    otherwise = not arguments.get("shuffle", True) or arguments.get("steps_per_epoch")
    return hasattr(x, "__array__") and not otherwise


def seeded_fit(
    model: keras.Model,
    x: Any,
    y: Arrays | None,
    seed: int | None,
    unfinished: pathlib.Path | None = None,
    callbacks: Sequence[keras.callbacks.Callback] = (),
    stateful: Sequence[keras.callbacks.Callback] = (),
    what: str | None = None,
    may_diverge: bool = False,
    sample_weight: ArrayLike | None = None,
    batch_size: int | None = None,
    **fit_arguments: Any,
) -> keras.callbacks.History:
    """Calls `model.fit` so that batches and masks depend only on seed, epoch and step."""
    callbacks = [*callbacks, *stateful]
    if not may_diverge:
        callbacks.append(RaiseOnDivergence(what))
    if isinstance(x, StoredRows) and seed is None:
        seed = int(np.random.randint(2**31 - 1))  # Only `ShuffledBatches` read a file.
    if seed is None or not follows_seed(x, fit_arguments):
        given = {"sample_weight": sample_weight, "batch_size": batch_size}
        return model.fit(x, y, callbacks=callbacks, **given, **fit_arguments)
    batches = ShuffledBatches(x, y, sample_weight, batch_size or 32, seed)
    seeded = SeededEpochs(batches)
    if unfinished is not None:
        seeded = Resume(unfinished / "epochs.npz", batches, stateful, _SECONDS)
    fit_arguments["shuffle"] = False
    return model.fit(batches, callbacks=[seeded, *callbacks], **fit_arguments)


def check_observers(callbacks: Sequence[keras.callbacks.Callback], reason: str) -> None:
    """Raises an error if a callback may change the training, which `reason` forbids."""
    for callback in callbacks:
        if type(callback) not in _OBSERVERS and not getattr(callback, "observes_only", False):
            raise ValueError(
                f"With {reason}, `callbacks` must only observe; received "
                f"{type(callback).__name__}. If it does not change the training, set its attribute "
                "`observes_only = True`."
            )


class DivergedError(FloatingPointError):
    """Raised when training diverges, that is, a loss or a weight is NaN or infinite.

    Args:
        message: the error message.
        epoch: the epoch in which training diverged, counted from 1. Defaults to 0 (unknown).
    """

    def __init__(self, message: str, epoch: int = 0):
        super().__init__(message)
        self.epoch = epoch


class RaiseOnDivergence(keras.callbacks.Callback):
    """Raises `DivergedError` when a loss, or a final weight, is NaN or infinite.

    It checks losses after each epoch, and weights after the last one. Pass it as the last
    callback, after one that restores the weights of the best epoch. `Trainer`, `train` and
    `pretrain` add it to every `fit`.

    Args:
        what: name of the training in the message. `None` (default) uses the model's name.

    Raises:
        DivergedError: during `fit`, with the epoch and the likely causes.

    Example:

    >>> import keras, numpy as np
    >>> from csdl_keras import RaiseOnDivergence
    >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
    >>> model.compile(keras.optimizers.SGD(1e30), loss="mean_squared_error")
    >>> x, y = np.ones((64, 4)), np.zeros((64, 3))
    >>> history = model.fit(x, y, epochs=3, callbacks=[RaiseOnDivergence()], verbose=0)
    Traceback (most recent call last):
    csdl_keras.fitting.fit.DivergedError: ...
    """

    observes_only = True

    def __init__(self, what: str | None = None):
        super().__init__()
        self.what = what

    def on_train_begin(self, logs: dict[str, float] | None = None) -> None:
        self._epoch = 0

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        self._epoch = epoch + 1
        for name in ("loss", "val_loss"):
            value = float((logs or {}).get(name, 0.0))
            if not math.isfinite(value):
                self._fail(f"`{name}` is {value}")

    def on_train_end(self, logs: dict[str, float] | None = None) -> None:
        for weight in self.model.weights:
            finite = keras.ops.all(keras.ops.isfinite(keras.ops.cast(weight, "float32")))
            if not bool(finite):
                self._fail(f"weights {weight.path!r} contain NaN or infinity")

    def _fail(self, found: str) -> None:
        rate = float(keras.ops.convert_to_numpy(self.model.optimizer.learning_rate))
        raise DivergedError(
            f"The training of {self.what or repr(self.model.name)} diverged: {found} in epoch "
            f"{self._epoch}. Likely causes: a learning rate that is too high (it is {rate:.3g}); "
            "costs far above 1 (divide them by the largest, or pass `cost_scale` to losses and "
            "`pretrain`); large inputs that are not standardised; one-hot rows instead of cost "
            "vectors.",
            self._epoch,
        )
