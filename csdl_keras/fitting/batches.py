"""Batches and random numbers of layers that depend only on a seed and the epoch."""

import math
from typing import Any, TypeAlias

import keras
import numpy as np

from csdl_keras._utils.array_file import fingerprint
from csdl_keras._utils.arrays import as_array
from csdl_keras._utils.checks import LARGEST_INTEGER, check_integer
from csdl_keras._utils.types import ArrayLike

#: An array of `N` rows, or a list or dict of such arrays.
Arrays: TypeAlias = ArrayLike | list | dict

#: Last number of the seeds of orders and of layers, which makes their random numbers differ.
_ORDERS, _LAYERS = 1, 2


class ShuffledBatches(keras.utils.PyDataset):
    """Shuffled batches of arrays that depend only on the seed and the epoch.

    The order in which `fit` itself shuffles depends on all numbers drawn before, so training
    cannot resume in the middle; on TensorFlow, after `keras.utils.set_random_seed`, it is even
    the same in every epoch. These batches have the order of the permutation
    `numpy.random.default_rng([seed, n, 1])` in the pass number `n` over the data, counted from 0,
    on all backends. Only the current batch is copied.

    Args:
        x: array of `N` rows, or a list or dict of such arrays.
        y: targets in the same form, or `None` (default).
        sample_weight: array `(N,)`, or `None` (default).
        batch_size: examples in a batch; the last batch of a pass may have fewer. Defaults to 32.
        seed: an integer of at least 0. Defaults to 0.
        steps_per_epoch: batches in an epoch, instead of the same argument of `fit`; the next
            epoch continues after them. `None` (default) is one pass.

    Raises:
        ValueError: if an argument is out of range, or lengths differ.

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
        steps_per_epoch: int | None = None,
    ):
        super().__init__()
        parts = [part for part in (x, y, sample_weight) if part is not None]
        self.arrays = tuple(keras.tree.map_structure(_rows, part) for part in parts)
        lengths = [len(array) for array in keras.tree.flatten(self.arrays)]
        if len(set(lengths)) != 1 or lengths[0] == 0:
            raise ValueError(
                f"Expected arrays of the same number of examples; received the lengths {lengths}."
            )
        if y is None and sample_weight is not None:
            raise ValueError("Expected `y` with a `sample_weight`; received None.")
        self.num_examples = lengths[0]
        self.batch_size = check_integer("batch_size", batch_size, high=LARGEST_INTEGER)
        self.seed = check_integer("seed", seed, low=0, high=LARGEST_INTEGER)
        self.batches_per_pass = math.ceil(self.num_examples / self.batch_size)
        self.steps_per_epoch = self.batches_per_pass
        if steps_per_epoch is not None:
            self.steps_per_epoch = check_integer(
                "steps_per_epoch", steps_per_epoch, high=LARGEST_INTEGER
            )
        #: The epoch whose batches are returned; callbacks set it.
        self.epoch = 0
        #: Number of epochs in which the batches were read.
        self.readings = 0
        self._order: tuple[int, np.ndarray] | None = None

    def __len__(self) -> int:
        return self.steps_per_epoch

    def __getitem__(self, index: int) -> Any:
        total = self.epoch * self.steps_per_epoch + index
        pass_number, batch = divmod(total, self.batches_per_pass)
        order = self._order  # Other threads may replace the attribute.
        if order is None or order[0] != pass_number:
            rng = np.random.default_rng([self.seed, pass_number, _ORDERS])
            self._order = order = (pass_number, rng.permutation(self.num_examples))
        rows = order[1][batch * self.batch_size : (batch + 1) * self.batch_size]
        return keras.tree.map_structure(lambda array: _to_floatx(array.take(rows, 0)), self.arrays)

    def on_epoch_begin(self) -> None:
        """Counts the epochs that read the batches; called by `fit`."""
        self.readings += 1

    def fingerprint(self) -> str:
        """Returns a digest of everything that the batches depend on."""
        sizes = [self.batch_size, self.seed, self.steps_per_epoch]
        return fingerprint(np.array(sizes), *keras.tree.flatten(self.arrays))


def _rows(array: ArrayLike) -> np.ndarray:
    """Converts to an array that has rows."""
    rows = as_array("x, y and sample_weight", array, "(N, ...)")
    if rows.ndim == 0:
        raise ValueError(
            "Expected arrays of shape (N, ...), or lists and dicts of them; received "
            f"{array!r} among them."
        )
    return rows


def _to_floatx(array: np.ndarray) -> np.ndarray:
    """Converts floats to Keras' default float type, as `fit` does; too large ones are infinite."""
    if array.dtype.kind != "f" or array.dtype == keras.config.floatx():
        return array
    with np.errstate(over="ignore"):
        return array.astype(keras.config.floatx(), copy=False)


class SeededEpochs(keras.callbacks.Callback):
    """Makes the batches and masks of each epoch of `fit` depend only on its number.

    Random layers (`Dropout`, `MaskingNoise`, `RandomShift`, ...) draw from
    `keras.random.SeedGenerator`s, whose states count the numbers drawn. Each epoch sets them to
    `(s, 0)` with `s` from `numpy.random.default_rng([seed, epoch, 2])`. On PyTorch it also sets
    the global seed, from which a `Dropout` without a seed draws.

    Args:
        batches: the batches that `fit` is given.
    """

    def __init__(self, batches: ShuffledBatches):
        super().__init__()
        self.batches = batches

    def on_epoch_begin(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        self.batches.epoch = epoch
        states = [one for one in self.model.variables if one.name == "seed_generator_state"]
        rng = np.random.default_rng([self.batches.seed, epoch, _LAYERS])
        for state, seed in zip(states, rng.integers(2**31, size=len(states)), strict=True):
            state.assign([int(seed), 0])
        if keras.backend.backend() == "torch":
            keras.utils.set_random_seed(int(rng.integers(2**31)))
