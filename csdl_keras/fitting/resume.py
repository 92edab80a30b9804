"""Training that goes on where it was killed."""

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
from csdl_keras.fitting.callback_memory import call_first, digests, recall, remind, with_memory
from csdl_keras.fitting.shuffled_batches import SeededEpochs, ShuffledBatches
from csdl_keras.fitting.stage_cache import warn_of_damage


class Resume(SeededEpochs):
    """Keeps the state of `fit` in a file; killed at any moment, it goes on from there.

    It ends where an undisturbed run does, to rounding: the file holds weights, the
    variables of the optimizer (with its loss scale), the history and what callbacks of
    Keras remember, all as they are between two epochs; and what is random follows from
    the seed of the batches, the epoch and the step, which
    `keras.callbacks.BackupAndRestore` leaves to chance. The file is replaced as a whole.
    It stays when training ends, and `fit` then takes the last epoch again: what follows
    `fit` can be killed as well. Delete it to train anew.

    The model must be built, and the same in every process, up to the values of weights.
    In `fit`, the place of `Resume` among the callbacks does not matter: it is called
    first. A layer or callback of your own that draws random numbers elsewhere than from
    a `keras.random.SeedGenerator` of its own is not covered.

    Args:
        path: the file, such as `"runs/fit.npz"`; its folder is made.
        batches: the `ShuffledBatches` that `fit` is given.
        callbacks: those of your own that remember something from epoch to epoch in
            attributes made up of numbers, strings, NumPy arrays, lists and dicts; they go
            to `fit` too. Those of Keras are found there, and may be named here.
        seconds: least time from one writing to the next. Defaults to 0: every epoch.

    Raises:
        ValueError: if an argument is none of the above; before training, if the file
            cannot be written, is damaged or of another fit, or `fit` is given other data,
            its own `steps_per_epoch`, or `BackupAndRestore` beside `Resume`.
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
    >>> first, second = train(epochs=2), train(epochs=3)  # which begins behind the first epoch
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

    def set_params(self, params: dict[str, Any]) -> None:
        # Each callback may change model and optimizer when an epoch begins, as
        # LearningRateScheduler does. The first one to be called finds them between two epochs.
        super().set_params(params)
        self._others = call_first(self)

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self._check_fit()
        if not self.model.optimizer.built:
            self.model.optimizer.build(self.model.trainable_variables)
        self._remembering = with_memory(self._others, self.callbacks)
        arrays = [keras.ops.convert_to_numpy(one) for one in self._variables()]
        # The old file stays until the new one is whole; the best weights may be in it too.
        room = 4 * sum(array.nbytes for array in arrays)
        check_writable("the folder of `path`", self.path.parent, room)
        self._identity = {
            "batches": self.batches.fingerprint(),
            "variables": [list(array.shape) for array in arrays],
            "optimizer": type(self.model.optimizer).__name__,
            "callbacks": [type(one).__name__ for one in self._remembering],
            "backend": keras.backend.backend(),
        }
        self._begun, self._found, self._written = False, None, time.monotonic()
        if self.path.exists():
            self._find()

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        # Here all callbacks are through with the epoch before, and none has begun this one.
        if not self._begun:
            self._begun = True
            self._beginnings = [digests(one) for one in self._remembering]
            self._take_up()
        elif time.monotonic() - self._written >= self.seconds:
            self._write(epoch)
            self._written = time.monotonic()
        super().on_epoch_begin(epoch)
        # From these `fit` draws an order of batches, unless it is given shuffle=False.
        random.seed(f"{self.batches.seed} {epoch}")
        self._readings = self.batches.readings

    def on_train_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        if self.batches.readings == self._readings:
            raise ValueError(
                "Expected `fit` on the ShuffledBatches that Resume was given; received other data."
            )

    def _check_fit(self) -> None:
        if not self.model.built:
            raise ValueError("Expected a model that is built; received one without weights.")
        if self.params["steps"] != len(self.batches):
            raise ValueError(
                f"Expected {len(self.batches)} steps an epoch, as ShuffledBatches has, which takes "
                f"`steps_per_epoch` instead of `fit`; received {self.params['steps']}."
            )
        for callback in self._others:
            if isinstance(callback, (Resume, keras.callbacks.BackupAndRestore)):
                raise ValueError(
                    "Expected one callback that goes on where training was killed; received "
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
        """Lets `fit` begin where the file ends; the rest follows once all callbacks have begun."""
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
        # What keras.callbacks.BackupAndRestore sets too.
        self.model._initial_epoch = record["epoch"]

    def _take_up(self) -> None:
        if self._found is None:
            return
        self.model._initial_epoch = None
        variables, arrays = self._variables(), self._found["arrays"]
        for variable, array in zip(variables, arrays, strict=False):
            variable.assign(array)
        for callback, memory in zip(self._remembering, self._found["memories"], strict=True):
            remind(callback, memory, arrays[len(variables) :])
        self._found = None

    def _write(self, epoch: int) -> None:
        arrays: list[np.ndarray] = []
        pairs = zip(self._remembering, self._beginnings, strict=True)
        memories = [recall(callback, beginning, arrays) for callback, beginning in pairs]
        record = {"identity": self._identity, "epoch": epoch, "memories": memories}
        own = [keras.ops.convert_to_numpy(variable) for variable in self._variables()]
        write_arrays(self.path, record, [*own, *arrays])


class OwnResume(Resume):
    """Begins anew where the file is damaged or of another fit, with a warning.

    The file of a stage is the package's own: nobody else would delete it.
    """

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        try:
            super().on_train_begin(logs)
        # What a file of another version lacks is found missing in many ways.
        except (DamagedFileError, OtherFitError, LookupError, TypeError) as error:
            warn_of_damage(self.path, error)
            self.path.unlink(missing_ok=True)
            super().on_train_begin(logs)
