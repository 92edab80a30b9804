"""Batches of arrays as datasets of TensorFlow.

`fit` makes such datasets by itself, at two prices. An epoch often ends only when the tuner
of `tf.data` next wakes up, some 10, 30, 70, 150, ... ms from its beginning, and so may take
twice as long: these datasets have no tuner. And every batch of a `PyDataset` passes
through Python by itself: here they come in blocks.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np

from csdl_keras.fitting.shuffled_batches import ShuffledBatches, to_floatx

#: Most batches of a block, and most bytes of several.
_BATCHES = 32


_BYTES = 2**22


def shuffled(batches: ShuffledBatches) -> Any:
    """The batches of the epoch that `batches` is at.

    Returns:
        On TensorFlow a `tf.data.Dataset`; elsewhere, and where arrays do not hold
        numbers, `batches`.
    """
    # The last batch of a turn may be smaller, and end no epoch.
    alike = len(batches) == batches.batches_per_turn or (
        batches.num_examples % batches.batch_size == 0
    )
    most = _BATCHES if alike else 1
    size = batches.batch_size
    return _dataset(batches.arrays, size, len(batches), batches.block, most) or batches


def in_order(arrays: tuple, batch_size: int = 32) -> Any:
    """Batches of arrays in their order.

    Args:
        arrays: inputs, targets and the like, each `(N, ...)`, or structures of them.
        batch_size: examples a batch, by default as many as in `evaluate`.

    Returns:
        On TensorFlow a `tf.data.Dataset`; elsewhere, and where they are not arrays
        of numbers, `arrays`.
    """
    if not all(isinstance(array, np.ndarray) for array in keras.tree.flatten(arrays)):
        return arrays
    number = math.ceil(len(keras.tree.flatten(arrays)[0]) / batch_size)

    def block(index: int, most: int) -> tuple[Any, int]:
        rows = slice(index * batch_size, (index + most) * batch_size)
        # TensorFlow takes the memory of what it is given, and may write into it.
        part = keras.tree.map_structure(lambda array: np.array(to_floatx(array[rows])), arrays)
        return part, min(most, number - index)

    return _dataset(arrays, batch_size, number, block, _BATCHES) or arrays


def _dataset(
    arrays: Any,
    batch_size: int,
    number: int,
    block: Callable[[int, int], tuple[Any, int]],
    most: int,
) -> Any:
    """A dataset of `number` batches, `block(index, most)` giving several; or `None`."""
    flat = keras.tree.flatten(arrays)
    if keras.backend.backend() != "tensorflow" or any(it.dtype.kind not in "biuf" for it in flat):
        return None
    import tensorflow as tf

    size = batch_size * sum(math.prod(array.shape[1:]) * array.itemsize for array in flat)
    most = max(1, min(most, _BYTES // max(1, size)))

    def blocks() -> Iterator[Any]:
        index = 0
        while index < number:
            part, count = block(index, most)
            yield keras.tree.lists_to_tuples(part)
            index += count

    def signature(array: np.ndarray) -> Any:
        return tf.TensorSpec((None, *array.shape[1:]), to_floatx(array[:0]).dtype)

    structure = keras.tree.lists_to_tuples(keras.tree.map_structure(signature, arrays))
    options = tf.data.Options()
    options.autotune.enabled = False
    dataset = tf.data.Dataset.from_generator(blocks, output_signature=structure)
    if most > 1:
        dataset = dataset.rebatch(batch_size)
    dataset = dataset.prefetch(2).apply(tf.data.experimental.assert_cardinality(number))
    return dataset.with_options(options)
