"""Continues training where it was interrupted."""

import os
import random
import time
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.array_file import (
    DamagedFileError,
    OtherFitError,
    pack,
    read_arrays,
    unpack,
    write_arrays,
)
from csdl_keras._utils.checks import check_callbacks, check_number, check_path, check_type
from csdl_keras._utils.files import check_writable
from csdl_keras.fitting.batches import SeededEpochs, ShuffledBatches
from csdl_keras.fitting.cache import warn_of_damage

#: Attributes in which Keras' `EarlyStopping` and `ReduceLROnPlateau` keep their place; other
#: callbacks name theirs in `state_names`.
_STATE = ("best", "best_epoch", "best_weights", "cooldown_counter", "stopped_epoch", "wait")


class Resume(SeededEpochs):
    """Saves the state of `fit` to a file after each epoch and continues from there.

    A training that is killed and continued ends like one that is not, up to rounding. The file
    holds the state between two epochs: weights, the optimizer's variables (with its loss scale),
    the history and the place of early stopping. Random numbers depend only on the seed of the
    batches, the epoch and the step; with `keras.callbacks.BackupAndRestore` they differ after a
    restart. The file is replaced as a whole. It stays when training ends, and a new `fit` then
    repeats the last epoch, so that the code after `fit` can be killed as well. Delete the file
    to train from the beginning.

    The model must be built, and be the same in each process except for the values of its
    weights. Pass `Resume` as the first of the callbacks of `fit`. Callbacks that are not in
    `callbacks` begin anew, so an `EarlyStopping` belongs there too. Your own layers must draw
    random numbers from a `keras.random.SeedGenerator` only.

    Args:
        path: the file, such as `"runs/fit.npz"`; its folder is created.
        batches: the `ShuffledBatches` that `fit` is given.
        callbacks: those callbacks of `fit` whose state is kept: `EarlyStopping`,
            `ReduceLROnPlateau`, and your own that have an attribute `state_names`, the names of
            attributes made up of numbers, strings, NumPy arrays, lists and dicts.
        seconds: least time between two saves. Defaults to 0, which saves after each epoch.

    Raises:
        ValueError: if an argument is invalid; before training, if the file cannot be written, is
            damaged or belongs to another fit, or if `fit` is given other data, other callbacks
            or its own `steps_per_epoch`.
        OSError: if the disk is full later on; the file stays as it was.

    Example:

    ```python
    model.compile("adam", loss=csdl_keras.SOSRLoss())
    batches = csdl_keras.ShuffledBatches(x, costs, batch_size=100, seed=0)
    stop = keras.callbacks.EarlyStopping("val_loss", patience=5, restore_best_weights=True)
    resume = csdl_keras.Resume("runs/fit.npz", batches, [stop])
    model.fit(batches, epochs=100, validation_data=validation, callbacks=[resume, stop])
    model.save("runs/model.keras")
    ```

    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/fit.npz"
    >>> def train(epochs):
    ...     model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    ...     model.compile("sgd", "mse")
    ...     batches = ShuffledBatches(np.ones((40, 2)), np.zeros(40), seed=0)
    ...     return model.fit(batches, epochs=epochs, callbacks=[Resume(path, batches)], verbose=0)
    >>> first, second = train(epochs=2), train(epochs=3)  # continues after one epoch
    >>> second.epoch, second.history["loss"][0] == first.history["loss"][0]
    ([0, 1, 2], True)
    """

    def __init__(
        self,
        path: str | os.PathLike,
        batches: ShuffledBatches,
        callbacks: Sequence[keras.callbacks.Callback] = (),
        seconds: float = 0.0,
    ):
        super().__init__(check_type("batches", batches, ShuffledBatches, "ShuffledBatches"))
        self.path = check_path("path", path)
        if self.path.is_dir():
            raise ValueError(f"Expected `path` to be a file; received the folder {path!r}.")
        self.callbacks = check_callbacks(callbacks)
        for callback in self.callbacks:
            if not _state_names(callback):
                raise ValueError(
                    "Expected `callbacks` whose state is known: EarlyStopping, ReduceLROnPlateau "
                    "or your own with an attribute `state_names`; received "
                    f"{type(callback).__name__}."
                )
        self.seconds = check_number("seconds", seconds, low=0)
        self._found: tuple[dict[str, Any], list[np.ndarray]] | None = None
        self._begun = False
        self._written = 0.0
        self._readings = 0

    def on_train_begin(self, logs: dict[str, float] | None = None) -> None:
        if not self.model.built:
            raise ValueError("Expected a model that is built; received one without weights.")
        if self.params["steps"] != len(self.batches):
            raise ValueError(
                f"Expected {len(self.batches)} steps an epoch, as ShuffledBatches has (pass "
                f"`steps_per_epoch` to it, not to `fit`); received {self.params['steps']}."
            )
        for callback in self.callbacks:
            if callback.model is not self.model:
                raise ValueError(
                    "Expected `callbacks` that `fit` is given too; received "
                    f"{type(callback).__name__}, which it is not."
                )
        if not self.model.optimizer.built:
            self.model.optimizer.build(self.model.trainable_variables)
        arrays = [keras.ops.convert_to_numpy(one) for one in self._variables()]
        check_writable("the folder of `path`", self.path.parent)
        self._identity = {
            "batches": self.batches.fingerprint(),
            "variables": [list(array.shape) for array in arrays],
            "optimizer": type(self.model.optimizer).__name__,
            "callbacks": [type(one).__name__ for one in self.callbacks],
            "backend": keras.backend.backend(),
        }
        self._begun, self._found, self._written = False, None, time.monotonic()
        if self.path.exists():
            self._find()

    def on_epoch_begin(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        # All callbacks have ended the last epoch, and none after this one has begun the next.
        if not self._begun:
            self._begun = True
            self._take_up()
        elif time.monotonic() - self._written >= self.seconds:
            self._write(epoch)
            self._written = time.monotonic()
        super().on_epoch_begin(epoch)
        # `fit` draws the order of batches from these numbers unless shuffle=False.
        random.seed(f"{self.batches.seed} {epoch}")
        self._readings = self.batches.readings

    def on_train_batch_begin(self, batch: int, logs: dict[str, float] | None = None) -> None:
        if self.batches.readings == self._readings:
            raise ValueError(
                "Expected `fit` on the ShuffledBatches that Resume was given; received other data."
            )

    def _variables(self) -> list[Any]:
        return [*self.model.weights, *self.model.optimizer.variables]

    def _find(self) -> None:
        """Reads the file and sets the first epoch; `_take_up` restores the state."""
        record, arrays = read_arrays(self.path)
        for name, value in self._identity.items():
            if record.get("identity", {}).get(name) != value:
                raise OtherFitError(
                    f"Expected {self.path} to be of the same fit, or no file; received one of "
                    f"other {name}."
                )
        shapes = [list(array.shape) for array in arrays]
        if shapes[: len(self._identity["variables"])] != self._identity["variables"]:
            raise DamagedFileError(f"Expected {self.path} to hold the variables that it names.")
        if record["epoch"] >= self.params["epochs"]:
            raise OtherFitError(
                f"Expected more than {record['epoch']} `epochs`, which are in {self.path}; "
                f"received {self.params['epochs']}."
            )
        self._found = record, arrays
        # Not public, but all that `fit` offers a callback: BackupAndRestore sets it too
        # (github.com/keras-team/keras/blob/master/keras/src/callbacks/backup_and_restore.py).
        self.model._initial_epoch = record["epoch"]

    def _take_up(self) -> None:
        """Restores the state that was read, after the `on_train_begin` of all callbacks."""
        if self._found is None:
            return
        (record, arrays), self._found = self._found, None
        self.model._initial_epoch = None
        variables = self._variables()
        for variable, array in zip(variables, arrays, strict=False):
            variable.assign(array)
        kept = [self.model.history, *self.callbacks]
        for callback, state in zip(kept, record["states"], strict=True):
            for name, value in state.items():
                setattr(callback, name, unpack(value, arrays[len(variables) :]))

    def _write(self, epoch: int) -> None:
        arrays: list[np.ndarray] = []
        states = [
            {name: pack(getattr(one, name), arrays) for name in _state_names(one)}
            for one in (self.model.history, *self.callbacks)
        ]
        own = [keras.ops.convert_to_numpy(variable) for variable in self._variables()]
        record = {"identity": self._identity, "epoch": epoch, "states": states}
        write_arrays(self.path, record, [*own, *arrays])


class OwnResume(Resume):
    """Replaces a file that is damaged or of another fit, with a warning.

    It is for files that the package itself keeps, which a user would not know to delete.
    """

    def on_train_begin(self, logs: dict[str, float] | None = None) -> None:
        try:
            super().on_train_begin(logs)
        # Files of other versions may lack anything.
        except (DamagedFileError, OtherFitError, LookupError, TypeError) as error:
            warn_of_damage(self.path, error)
            self.path.unlink(missing_ok=True)
            super().on_train_begin(logs)


def _state_names(callback: keras.callbacks.Callback) -> Sequence[str]:
    """Returns the names of the attributes that hold the state of a callback."""
    if isinstance(callback, keras.callbacks.History):
        return ("epoch", "history")
    known = (keras.callbacks.EarlyStopping, keras.callbacks.ReduceLROnPlateau)
    names = [name for name in _STATE if isinstance(callback, known) and hasattr(callback, name)]
    return [*names, *getattr(callback, "state_names", ())]
