"""Batches and random numbers that depend only on seed and epoch, and resumable fits."""

import math
import os
import pathlib
import random
import time
from collections.abc import Sequence
from typing import Any, TypeAlias

import keras
import numpy as np

from csdl_keras._utils.arrays import as_array
from csdl_keras._utils.checks import check_callbacks, check_integer, check_number, check_type
from csdl_keras._utils.files import DamagedFileError, fingerprint, read_arrays, write_arrays
from csdl_keras._utils.keras_private import begin_at
from csdl_keras._utils.streams import StoredRows
from csdl_keras._utils.types import ArrayLike
from csdl_keras.fitting.cache import warn_of_damage
from csdl_keras_cli.writable import check_writable

#: An array of `N` rows, or a list or dict of such arrays.
Arrays: TypeAlias = ArrayLike | list | dict


class ShuffledBatches(keras.utils.PyDataset):
    """Shuffled batches of arrays that depend only on the seed and the epoch.

    With them, an interrupted training can resume. In epoch `n`, counted from 0, the order is the
    permutation of `numpy.random.default_rng([seed, n, 1])`.

    Args:
        x: array of `N` rows, or a list or dict of such arrays.
        y: targets in the same form, or `None` (default).
        sample_weight: array `(N,)`, or `None` (default).
        batch_size: batch size; the last batch of an epoch may be smaller. Defaults to 32.
        seed: an integer of at least 0. Defaults to 0.

    Example:

    >>> import numpy as np
    >>> from csdl_keras import ShuffledBatches
    >>> batches = ShuffledBatches(np.arange(5), batch_size=2, seed=0)
    >>> [batch.tolist() for (batch,) in batches]
    [[1, 3], [4, 2], [0]]
    >>> batches.epoch = 1
    >>> [batch.tolist() for (batch,) in batches]
    [[0, 4], [3, 1], [2]]
    """

    def __init__(
        self,
        x: Arrays,
        y: Arrays | None = None,
        sample_weight: ArrayLike | None = None,
        batch_size: int = 32,
        seed: int = 0,
    ):
        super().__init__()
        if y is None and sample_weight is not None:
            raise ValueError("A `sample_weight` needs `y`; received None.")
        parts = tuple(part for part in (x, y, sample_weight) if part is not None)
        self.arrays = keras.tree.map_structure(_in_floatx, parts)
        shapes = [array.shape for array in keras.tree.flatten(self.arrays)]
        if len({shape[:1] for shape in shapes}) != 1 or shapes[0][:1] in ((), (0,)):
            raise ValueError(f"Arrays must have the same number of rows; received shapes {shapes}.")
        self.num_examples = shapes[0][0]
        self.batch_size = check_integer("batch_size", batch_size)
        self.seed = check_integer("seed", seed, low=0)
        #: The epoch whose batches are returned; callbacks set it.
        self.epoch = 0
        #: The number of epochs that have read the batches.
        self.readings = 0
        self._order: tuple[int, np.ndarray] | None = None

    def __len__(self) -> int:
        return math.ceil(self.num_examples / self.batch_size)

    def __getitem__(self, index: int) -> Any:
        epoch, order = self.epoch, self._order  # Other threads may change the attributes.
        if order is None or order[0] != epoch:
            rng = np.random.default_rng([self.seed, epoch, 1])
            self._order = order = (epoch, rng.permutation(self.num_examples))
        rows = order[1][index * self.batch_size : (index + 1) * self.batch_size]
        return keras.tree.map_structure(lambda array: array.take(rows, 0), self.arrays)

    def on_epoch_begin(self) -> None:
        self.readings += 1

    def fingerprint(self) -> str:
        """Returns a digest of everything that the batches depend on."""
        sizes = np.array([self.batch_size, self.seed])
        return fingerprint(sizes, *keras.tree.flatten(self.arrays))


def _in_floatx(values: Any) -> Any:
    """Converts floats to Keras' default float type, as `fit` does."""
    if isinstance(values, StoredRows):
        return values
    array = as_array("x, y and sample_weight", values, "(N, ...)")
    with np.errstate(over="ignore"):
        return array.astype(keras.config.floatx(), copy=False) if array.dtype.kind == "f" else array


class SeededEpochs(keras.callbacks.Callback):
    """Makes batches and masks depend only on the number of the epoch."""

    def __init__(self, batches: ShuffledBatches):
        super().__init__()
        self.batches = batches

    def on_epoch_begin(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        self.batches.epoch = epoch
        states = [one for one in self.model.variables if one.name == "seed_generator_state"]
        rng = np.random.default_rng([self.batches.seed, epoch, 2])  # The order has 1.
        for state, seed in zip(states, rng.integers(2**31, size=len(states)), strict=True):
            state.assign([int(seed), 0])
        if keras.backend.backend() == "torch":  # `Dropout` without a seed uses the global state.
            keras.utils.set_random_seed(int(rng.integers(2**31)))


#: Attributes with the state of callbacks of Keras and of this package.
_PLACES = frozenset(
    "best best_epoch best_weights cooldown_counter lowest_loss stopped_epoch wait".split()
)


class Resume(SeededEpochs):
    """Saves the state of `fit` to a file after each epoch and continues from there.

    An interrupted training that continues gives the same result as an uninterrupted one, up to
    rounding. The file stores the weights, the optimizer's variables, the history and the state of
    callbacks; random numbers depend on the seed of the batches, the epoch and the step. The file
    remains when training ends, and a new `fit` then repeats the last epoch; delete the file to
    train from the beginning.

    The model must be built, and draw random numbers only from `keras.random.SeedGenerator`s. Pass
    `Resume` to `fit` as the first callback. Callbacks that are not in `callbacks` start afresh.

    Args:
        path: the file, such as `"runs/fit.npz"`; its folder is created.
        batches: the `ShuffledBatches` passed to `fit`.
        callbacks: the callbacks of `fit` whose state is saved: Keras' `EarlyStopping`,
            `ReduceLROnPlateau` and `ModelCheckpoint`.
        seconds: minimum time between two saves. Defaults to 0, which saves after each epoch.

    Raises:
        ValueError: before training, if the file cannot be written or belongs to another fit, or
            if `fit` gets different data. A damaged file is replaced, with a warning.

    Example:

    >>> import keras, numpy as np, tempfile
    >>> from csdl_keras import Resume, ShuffledBatches
    >>> path = f"{tempfile.mkdtemp()}/fit.npz"
    >>> def train(epochs):
    ...     model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    ...     model.compile("sgd", "mse")
    ...     batches = ShuffledBatches(np.ones((40, 2)), np.zeros(40), seed=0)
    ...     stop = keras.callbacks.EarlyStopping("loss", patience=2)
    ...     callbacks = [Resume(path, batches, [stop]), stop]
    ...     return model.fit(batches, epochs=epochs, callbacks=callbacks, verbose=0)
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
        self.path = pathlib.Path(path)
        self.callbacks = check_callbacks(callbacks)
        for callback in self.callbacks:
            if _PLACES.isdisjoint(vars(callback)):
                raise ValueError(f"Resume cannot save the state of {type(callback).__name__}.")
        self.seconds = check_number("seconds", seconds, low=0)

    def on_train_begin(self, logs: dict[str, float] | None = None) -> None:
        if not self.model.built:
            raise ValueError("Resume needs a built model; this one has no weights. Call it once.")
        if self.params["steps"] != len(self.batches):
            raise ValueError(
                f"An epoch must have {len(self.batches)} steps, one for each shuffled batch; "
                f"received {self.params['steps']}."
            )
        check_writable("the folder of `path`", self.path.parent)
        if not self.model.optimizer.built:
            self.model.optimizer.build(self.model.trainable_variables)
        self._identity = {
            "batches": self.batches.fingerprint(),
            "variables": [list(one.shape) for one in self._variables()],
            "optimizer": type(self.model.optimizer).__name__,
            "callbacks": [type(one).__name__ for one in self.callbacks],
            "backend": keras.backend.backend(),
        }
        self._found: tuple[dict[str, Any], list[np.ndarray]] | None = None
        self._written = time.monotonic()
        try:
            record, arrays = read_arrays(self.path)
        except FileNotFoundError:
            return
        except DamagedFileError as error:
            return warn_of_damage(self.path, error)
        found = record.get("identity", {})
        other = [name for name, value in self._identity.items() if found.get(name) != value]
        if other:
            raise ValueError(
                f"{self.path} belongs to a fit with different {', '.join(other)}. Choose another "
                "file, or delete this one."
            )
        if record["epoch"] >= self.params["epochs"]:
            given = self.params["epochs"]
            raise ValueError(
                f"{self.path} has {record['epoch']} epochs; received epochs={given}. Pass more "
                "epochs, or delete the file."
            )
        self._found = record, arrays
        begin_at(self.model, record["epoch"])

    def on_epoch_begin(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        # Here, all callbacks have ended the last epoch, and later ones have not begun the next.
        if self._found is not None:
            (record, arrays), self._found = self._found, None
            begin_at(self.model, None)
            for variable, array in zip(self._variables(), arrays, strict=False):
                variable.assign(array)
            kept = [self.model.history, *self.callbacks]
            for callback, state in zip(kept, record["states"], strict=True):
                vars(callback).update(state)
        elif self.model.history.epoch and time.monotonic() - self._written >= self.seconds:
            self._write(epoch)
            self._written = time.monotonic()
        super().on_epoch_begin(epoch)
        # Unless shuffle=False, `fit` draws the order of batches from these numbers.
        random.seed(f"{self.batches.seed} {epoch}")
        self._readings = self.batches.readings

    def on_train_batch_begin(self, batch: int, logs: dict[str, float] | None = None) -> None:
        if self.batches.readings == self._readings:
            raise ValueError("`fit` and Resume must receive the same ShuffledBatches.")

    def _variables(self) -> list[Any]:
        return [*self.model.weights, *self.model.optimizer.variables]

    def _write(self, epoch: int) -> None:
        history = self.model.history
        states = [{"epoch": history.epoch, "history": history.history}]
        for callback in self.callbacks:
            states.append({name: it for name, it in vars(callback).items() if name in _PLACES})
        own = [keras.ops.convert_to_numpy(variable) for variable in self._variables()]
        record = {"identity": self._identity, "epoch": epoch, "states": states}
        write_arrays(self.path, record, own)
