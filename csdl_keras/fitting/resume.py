"""Continues training where it was interrupted."""

import os
import random
import time
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.array_file import DamagedFileError, OtherFitError, read_arrays, write_arrays
from csdl_keras._utils.checks import check_callbacks, check_number, check_path, check_type
from csdl_keras._utils.files import check_writable
from csdl_keras.fitting.callbacks import (
    call_first,
    digests,
    restore_state,
    save_state,
    with_state,
)
from csdl_keras.fitting.shuffled_batches import SeededEpochs, ShuffledBatches
from csdl_keras.fitting.stage_cache import warn_of_damage


class Resume(SeededEpochs):
    """Saves the state of `fit` to a file after each epoch and continues from there.

    A training that is killed and continued ends like one that is not, up to rounding. The file
    holds the state between two epochs: weights, the optimizer's variables (with its loss scale),
    the history and the state of Keras' callbacks. Random numbers depend only on the seed of the
    batches, the epoch and the step; with `keras.callbacks.BackupAndRestore` they differ after a
    restart. The file is replaced as a whole. It stays when training ends, and a new `fit` then
    repeats the last epoch, so that the code after `fit` can be killed as well. Delete the file
    to train from the beginning.

    The model must be built, and be the same in each process except for the values of its
    weights. `Resume` may stand anywhere among the callbacks of `fit` and is called first. Your
    own layers and callbacks must draw random numbers from a `keras.random.SeedGenerator` only.

    Args:
        path: the file, such as `"runs/fit.npz"`; its folder is created.
        batches: the `ShuffledBatches` that `fit` is given.
        callbacks: your own callbacks with a state: attributes made up of numbers, strings, NumPy
            arrays, lists and dicts. Pass them to `fit` too. Keras' own callbacks are found there.
        seconds: least time between two saves. Defaults to 0, which saves after each epoch.

    Raises:
        ValueError: if an argument is invalid; before training, if the file cannot be written, is
            damaged or belongs to another fit, or if `fit` is given other data, its own
            `steps_per_epoch`, or `BackupAndRestore` in addition.
        OSError: if the disk is full later on; the file stays as it was.

    Example:

    ```python
    model.compile("adam", loss=csdl_keras.SOSRLoss())
    batches = csdl_keras.ShuffledBatches(x, costs, batch_size=100, seed=0)
    stop = keras.callbacks.EarlyStopping("val_loss", patience=5, restore_best_weights=True)
    resume = csdl_keras.Resume("runs/fit.npz", batches)
    model.fit(batches, epochs=100, validation_data=validation, callbacks=[stop, resume])
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
        self.seconds = check_number("seconds", seconds, low=0)
        self._found: dict[str, Any] | None = None
        self._begun = False
        self._written = 0.0
        self._readings = 0

    def set_params(self, params: dict[str, object]) -> None:
        # Callbacks such as LearningRateScheduler change model and optimizer when an epoch begins;
        # only the first callback sees their state between two epochs.
        super().set_params(params)
        self._others = call_first(self)

    def on_train_begin(self, logs: dict[str, float] | None = None) -> None:
        self._check_fit()
        if not self.model.optimizer.built:
            self.model.optimizer.build(self.model.trainable_variables)
        self._stateful = with_state(self._others, self.callbacks)
        arrays = [keras.ops.convert_to_numpy(one) for one in self._variables()]
        # The old file stays until the new one is whole, and both may hold the best weights too.
        room = 4 * sum(array.nbytes for array in arrays)
        check_writable("the folder of `path`", self.path.parent, room)
        self._identity = {
            "batches": self.batches.fingerprint(),
            "variables": [list(array.shape) for array in arrays],
            "optimizer": type(self.model.optimizer).__name__,
            "callbacks": [type(one).__name__ for one in self._stateful],
            "backend": keras.backend.backend(),
        }
        self._begun, self._found, self._written = False, None, time.monotonic()
        if self.path.exists():
            self._find()

    def on_epoch_begin(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        # All callbacks have ended the last epoch, and none has begun this one.
        if not self._begun:
            self._begun = True
            self._beginnings = [digests(one) for one in self._stateful]
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

    def _check_fit(self) -> None:
        if not self.model.built:
            raise ValueError("Expected a model that is built; received one without weights.")
        if self.params["steps"] != len(self.batches):
            raise ValueError(
                f"Expected {len(self.batches)} steps an epoch, as ShuffledBatches has (pass "
                f"`steps_per_epoch` to it, not to `fit`); received {self.params['steps']}."
            )
        for callback in self._others:
            if isinstance(callback, (Resume, keras.callbacks.BackupAndRestore)):
                raise ValueError(
                    "Expected one callback that continues interrupted training; received "
                    f"Resume and {type(callback).__name__}."
                )
        for callback in self.callbacks:
            if not any(callback is other for other in self._others):
                raise ValueError(
                    "Expected `callbacks` that `fit` is given too; received "
                    f"{type(callback).__name__}, which it is not."
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
        self._found = {**record, "arrays": arrays}
        # keras.callbacks.BackupAndRestore sets this attribute too.
        self.model._initial_epoch = record["epoch"]

    def _take_up(self) -> None:
        """Restores the state that was read, after the `on_train_begin` of all callbacks."""
        if self._found is None:
            return
        self.model._initial_epoch = None
        variables, arrays = self._variables(), self._found["arrays"]
        for variable, array in zip(variables, arrays, strict=False):
            variable.assign(array)
        for callback, state in zip(self._stateful, self._found["memories"], strict=True):
            restore_state(callback, state, arrays[len(variables) :])
        self._found = None

    def _write(self, epoch: int) -> None:
        arrays: list[np.ndarray] = []
        pairs = zip(self._stateful, self._beginnings, strict=True)
        states = [save_state(callback, beginning, arrays) for callback, beginning in pairs]
        record = {"identity": self._identity, "epoch": epoch, "memories": states}
        own = [keras.ops.convert_to_numpy(variable) for variable in self._variables()]
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
