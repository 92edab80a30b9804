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
    cannot resume in the middle. In epoch `n`, counted from 0, these batches have the order of the
    permutation `numpy.random.default_rng([seed, n, 1])`.

    Args:
        x: array of `N` rows, or a list or dict of such arrays.
        y: targets in the same form, or `None` (default).
        sample_weight: array `(N,)`, or `None` (default).
        batch_size: examples in a batch; the last batch of an epoch may have fewer. Defaults to 32.
        seed: an integer of at least 0. Defaults to 0.

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
    ):
        super().__init__()
        if y is None and sample_weight is not None:
            raise ValueError("Expected `y` with a `sample_weight`; received None.")
        parts = tuple(part for part in (x, y, sample_weight) if part is not None)
        self.arrays = keras.tree.map_structure(_in_floatx, parts)
        lengths = [len(array) for array in keras.tree.flatten(self.arrays)]
        if len(set(lengths)) != 1 or lengths[0] == 0:
            raise ValueError(
                f"Expected arrays of the same number of examples; received the lengths {lengths}."
            )
        self.num_examples = lengths[0]
        self.batch_size = check_integer("batch_size", batch_size, high=LARGEST_INTEGER)
        self.seed = check_integer("seed", seed, low=0, high=LARGEST_INTEGER)
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
            rng = np.random.default_rng([self.seed, epoch, _ORDERS])
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
    """Makes the batches and masks of each epoch of `fit` depend only on its number.

    Each epoch sets the states of all `keras.random.SeedGenerator`s to `(s, 0)` with `s` from
    `numpy.random.default_rng([seed, epoch, 2])`. On PyTorch it also sets the global seed, from
    which a `Dropout` without a seed draws.
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
