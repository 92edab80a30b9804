"""Batches and random numbers that follow from a seed and the epoch, and fits that go on by them."""

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
from csdl_keras._utils.types import ArrayLike
from csdl_keras.fitting.cache import warn_of_damage
from csdl_keras_cli.writable import check_writable

#: An array of `N` rows, or a list or dict of such arrays.
Arrays: TypeAlias = ArrayLike | list | dict


class ShuffledBatches(keras.utils.PyDataset):
    """Shuffled batches of arrays that depend only on the seed and the epoch.

    So training can resume in the middle. In epoch `n`, counted from 0, the order is that of the
    permutation of `numpy.random.default_rng([seed, n, 1])`.

    Args:
        x: array of `N` rows, or a list or dict of such arrays.
        y: targets in the same form, or `None` (default).
        sample_weight: array `(N,)`, or `None` (default).
        batch_size: examples in a batch; the last batch of an epoch may have fewer. Defaults to 32.
        seed: an integer of at least 0. Defaults to 0.

    Example:

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
            raise ValueError("Expected `y` with a `sample_weight`; received None.")
        parts = tuple(part for part in (x, y, sample_weight) if part is not None)
        self.arrays = keras.tree.map_structure(_in_floatx, parts)
        shapes = [array.shape for array in keras.tree.flatten(self.arrays)]
        if len({shape[:1] for shape in shapes}) != 1 or shapes[0][:1] in ((), (0,)):
            raise ValueError(
                f"Expected arrays of the same number of examples; received the shapes {shapes}."
            )
        self.num_examples = shapes[0][0]
        self.batch_size = check_integer("batch_size", batch_size)
        self.seed = check_integer("seed", seed, low=0)
        #: The epoch whose batches are returned; callbacks set it.
        self.epoch = 0
        #: Number of epochs in which the batches were read.
        self.readings = 0
        self._order: tuple[int, np.ndarray] | None = None

    def __len__(self) -> int:
        return math.ceil(self.num_examples / self.batch_size)

    def __getitem__(self, index: int) -> Any:
        epoch, order = self.epoch, self._order  # Other threads may replace the attributes.
        if order is None or order[0] != epoch:
            rng = np.random.default_rng([self.seed, epoch, 1])
            self._order = order = (epoch, rng.permutation(self.num_examples))
        rows = order[1][index * self.batch_size : (index + 1) * self.batch_size]
        return keras.tree.map_structure(lambda array: array.take(rows, 0), self.arrays)

    def on_epoch_begin(self) -> None:
        """Counts the epochs that read the batches; called by `fit`."""
        self.readings += 1

    def fingerprint(self) -> str:
        """Returns a digest of everything that the batches depend on."""
        sizes = np.array([self.batch_size, self.seed])
        return fingerprint(sizes, *keras.tree.flatten(self.arrays))


def _in_floatx(values: ArrayLike) -> np.ndarray:
    """Converts floats to Keras' default float type, as `fit` does; too large ones are infinite."""
    array = as_array("x, y and sample_weight", values, "(N, ...)")
    with np.errstate(over="ignore"):
        return array.astype(keras.config.floatx(), copy=False) if array.dtype.kind == "f" else array


class SeededEpochs(keras.callbacks.Callback):
    """Makes the batches and masks of each epoch of `fit` depend only on its number."""

    def __init__(self, batches: ShuffledBatches):
        super().__init__()
        self.batches = batches

    def on_epoch_begin(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        self.batches.epoch = epoch
        states = [one for one in self.model.variables if one.name == "seed_generator_state"]
        rng = np.random.default_rng([self.batches.seed, epoch, 2])  # The order has 1.
        for state, seed in zip(states, rng.integers(2**31, size=len(states)), strict=True):
            state.assign([int(seed), 0])
        if keras.backend.backend() == "torch":  # A `Dropout` without a seed draws from the global.
            keras.utils.set_random_seed(int(rng.integers(2**31)))


#: Attributes in which callbacks of Keras, and of this package, keep their place.
_PLACES = frozenset(
    "best best_epoch best_weights cooldown_counter lowest_loss stopped_epoch wait".split()
)


class Resume(SeededEpochs):
    """Saves the state of `fit` to a file after each epoch and continues from there.

    A training that is killed and continued ends like one that is not, up to rounding. The file
    holds weights, the optimizer's variables, the history and the place of early stopping; random
    numbers follow from the seed of the batches, the epoch and the step. It stays when training
    ends, and a new `fit` then repeats the last epoch; delete it to train from the beginning.

    The model must be built, and draw random numbers from `keras.random.SeedGenerator`s only. Pass
    `Resume` first to `fit`; whatever callbacks that are not in `callbacks` remember begins anew.

    Args:
        path: the file, such as `"runs/fit.npz"`; its folder is created.
        batches: the `ShuffledBatches` that `fit` is given.
        callbacks: those callbacks of `fit` whose place is kept: Keras' `EarlyStopping`,
            `ReduceLROnPlateau` and `ModelCheckpoint`.
        seconds: least time between two saves. Defaults to 0, which saves after each epoch.

    Raises:
        ValueError: before training, if the file cannot be written or belongs to another fit, or
            if `fit` is given other data. A damaged file is replaced, with a warning.

    Example:

    >>> import tempfile
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
                raise ValueError(
                    "Expected `callbacks` whose place is known, such as EarlyStopping; received "
                    f"{type(callback).__name__}."
                )
        self.seconds = check_number("seconds", seconds, low=0)

    def on_train_begin(self, logs: dict[str, float] | None = None) -> None:
        if not self.model.built:
            raise ValueError("Expected a model that is built; received one without weights.")
        if self.params["steps"] != len(self.batches):
            raise ValueError(
                f"Expected {len(self.batches)} steps an epoch, as ShuffledBatches has; received "
                f"{self.params['steps']}."
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
                f"Expected {self.path} to be of the same fit, or no file; received one of other "
                f"{', '.join(other)}."
            )
        if record["epoch"] >= self.params["epochs"]:
            raise ValueError(
                f"Expected more than {record['epoch']} `epochs`, which are in {self.path}; "
                f"received {self.params['epochs']}."
            )
        self._found = record, arrays
        begin_at(self.model, record["epoch"])

    def on_epoch_begin(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        # All callbacks have ended the last epoch, and none after this one has begun the next.
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

    def _write(self, epoch: int) -> None:
        history = self.model.history
        states = [{"epoch": history.epoch, "history": history.history}]
        for callback in self.callbacks:
            states.append({name: it for name, it in vars(callback).items() if name in _PLACES})
        own = [keras.ops.convert_to_numpy(variable) for variable in self._variables()]
        record = {"identity": self._identity, "epoch": epoch, "states": states}
        write_arrays(self.path, record, own)
