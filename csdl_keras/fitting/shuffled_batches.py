"""Batches whose order follows from a seed and the number of the epoch."""

import math
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.array_file import fingerprint
from csdl_keras._utils.arrays import as_array
from csdl_keras._utils.checks import LARGEST_INTEGER, check_integer

#: Sets the random numbers of orders apart from others of the same seed.
_PURPOSE = 1


class ShuffledBatches(keras.utils.PyDataset):
    """Shuffled batches of arrays, the same ones for the same seed and epoch.

    What `fit` shuffles by itself depends on all that has been drawn before, and cannot be
    taken up in the middle; on TensorFlow, after `keras.utils.set_random_seed`, it is even
    the same in every epoch. The order of these batches is the permutation
    `numpy.random.default_rng([seed, turn, 1])`, on all backends, `turn` counting from 0
    how often all examples have had theirs. Nothing is copied but the batch.

    Args:
        x: array of `N` rows, or a structure (list, dict) of them.
        y: targets, the same; `None` (default) is none.
        sample_weight: `(N,)`, or `None` (default).
        batch_size: examples a batch; the last of a turn may have fewer. Defaults to 32.
        seed: an integer of at least 0. Defaults to 0.
        steps_per_epoch: batches an epoch, instead of the same argument of `fit`; the next
            epoch goes on behind them. `None` (default) is one turn.

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
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
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
        self.batches_per_turn = math.ceil(self.num_examples / self.batch_size)
        self.steps_per_epoch = self.batches_per_turn
        if steps_per_epoch is not None:
            self.steps_per_epoch = check_integer(
                "steps_per_epoch", steps_per_epoch, high=LARGEST_INTEGER
            )
        #: The epoch whose batches these are; `Resume` sets it.
        self.epoch = 0
        #: How often they have been read from the first one.
        self.readings = 0
        self._order: tuple[int, np.ndarray] | None = None

    def __len__(self) -> int:
        return self.steps_per_epoch

    def __getitem__(self, index: int) -> Any:
        return self.block(index)[0]

    def block(self, index: int, most: int = 1) -> tuple[Any, int]:
        """Batches that follow one another in a turn, as one.

        Args:
            index: of the first, in the epoch.
            most: how many, unless the epoch or the turn ends before. Defaults to 1.

        Returns:
            The batches as one, arrays `(count * batch_size, ...)` or shorter at the end of
            a turn, and `count`, how many they are.
        """
        turn, batch = divmod(self.epoch * self.steps_per_epoch + index, self.batches_per_turn)
        count = min(most, self.steps_per_epoch - index, self.batches_per_turn - batch)
        order = self._order  # a copy, since threads may read
        if order is None or order[0] != turn:
            rng = np.random.default_rng([self.seed, turn, _PURPOSE])
            self._order = order = (turn, rng.permutation(self.num_examples))
        rows = order[1][batch * self.batch_size : (batch + count) * self.batch_size]
        part = keras.tree.map_structure(lambda array: to_floatx(array.take(rows, 0)), self.arrays)
        return part, count

    def on_epoch_begin(self) -> None:
        """Called by `fit`, and instead of it where others give it the batches."""
        self.readings += 1

    def fingerprint(self) -> str:
        """A digest of what the batches of all epochs follow from."""
        sizes = [self.batch_size, self.seed, self.steps_per_epoch]
        return fingerprint(np.array(sizes), *keras.tree.flatten(self.arrays))


def _rows(array: Any) -> np.ndarray:
    """An array of rows; data frames by position."""
    rows = as_array("x, y and sample_weight", array, "(N, ...)")
    if rows.ndim == 0:
        raise ValueError(
            "Expected arrays of shape (N, ...), or lists and dicts of them; received "
            f"{array!r} among them."
        )
    return rows


def to_floatx(array: np.ndarray) -> np.ndarray:
    """Floats in the type of Keras, as `fit` makes them of arrays; too large ones are infinite."""
    if array.dtype.kind != "f" or array.dtype == keras.config.floatx():
        return array
    with np.errstate(over="ignore"):
        return array.astype(keras.config.floatx(), copy=False)


#: Sets the random numbers of layers apart from others of the same seed.
_LAYERS = 2


class SeededEpochs(keras.callbacks.Callback):
    """Begins each epoch of `fit` at batches and masks that follow from its number alone.

    Layers that draw at random (`Dropout`, `MaskingNoise`, `RandomShift`, ...) do so from
    `keras.random.SeedGenerator`s, whose states count what has been drawn. Each epoch
    sets them to `(s, 0)`, `s` from `numpy.random.default_rng([seed, epoch, 2])`. On
    PyTorch the global seed is set too, from which a `Dropout` without one draws.

    Args:
        batches: what is fitted on.
    """

    def __init__(self, batches: ShuffledBatches):
        super().__init__()
        self.batches = batches

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self.batches.epoch = epoch
        states = generator_states(self.model)
        rng = np.random.default_rng([self.batches.seed, epoch, _LAYERS])
        for state, seed in zip(states, rng.integers(2**31, size=len(states)), strict=True):
            state.assign([int(seed), 0])
        if keras.backend.backend() == "torch":
            keras.utils.set_random_seed(int(rng.integers(2**31)))


def generator_states(model: keras.Model) -> list[Any]:
    """The states of a model's generators of random numbers, in the order of its layers."""
    return [one for one in model.variables if one.name == "seed_generator_state"]
