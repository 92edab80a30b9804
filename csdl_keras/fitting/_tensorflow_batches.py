"""Turns arrays into TensorFlow datasets on which `fit` does not wait.

`fit` makes datasets of its own, which cost time in two ways. Their epochs often end only when the
autotuner of `tf.data` next wakes up, 10, 30, 70, 150, ... ms after their beginning: an epoch may
take twice as long as its steps. And each batch of a `PyDataset` passes through Python by itself.
The datasets made here have no autotuner and pass through Python in blocks of batches.

Throughput relative to a loop written by hand in TensorFlow, on two CPU cores
(docs/guides/speed.md):

| network | `fit` on arrays | as the package trains |
| --- | ---: | ---: |
| 3x3000, batch 128 | 0.87 | 0.99 |
| 2x50, batch 1 | 0.51 | 1.78 |
| 2x50, batch 20 | 0.53 | 1.69 |

The package also sets `steps_per_execution` to 32, from which small networks gain as well.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np

from csdl_keras.fitting.shuffled_batches import Arrays, ShuffledBatches, to_floatx

#: Largest number of batches in a block, and largest size in bytes of one with several.
_BATCHES = 32
_BYTES = 2**22


def shuffled(batches: ShuffledBatches) -> Any:
    """Returns the batches of the current epoch of `batches`.

    Returns:
        A `tf.data.Dataset` on TensorFlow; `batches` itself on other backends and if an array
        holds no numbers.
    """
    # If the last batch of a pass is smaller and not the last of an epoch, `rebatch` would fill it.
    alike = len(batches) == batches.batches_per_pass or (
        batches.num_examples % batches.batch_size == 0
    )
    most = _BATCHES if alike else 1
    size = batches.batch_size
    return _dataset(batches.arrays, size, len(batches), batches.block, most) or batches


def in_order(arrays: tuple, batch_size: int = 32) -> Any:
    """Returns batches of arrays in the order of their rows.

    Args:
        arrays: inputs, targets and sample weights, each `(N, ...)` or a list or dict of such
            arrays.
        batch_size: examples in a batch. Defaults to 32, as in `evaluate`.

    Returns:
        A `tf.data.Dataset` on TensorFlow; `arrays` itself on other backends and if something
        other than an array of numbers is among them.
    """
    if not all(isinstance(array, np.ndarray) for array in keras.tree.flatten(arrays)):
        return arrays
    number = math.ceil(len(keras.tree.flatten(arrays)[0]) / batch_size)

    def block(index: int, most: int) -> tuple[Any, int]:
        rows = slice(index * batch_size, (index + most) * batch_size)
        # TensorFlow takes over the memory of these arrays and may write into it, so copy.
        part = keras.tree.map_structure(lambda array: np.array(to_floatx(array[rows])), arrays)
        return part, min(most, number - index)

    return _dataset(arrays, batch_size, number, block, _BATCHES) or arrays


def _dataset(
    arrays: Arrays | tuple,
    batch_size: int,
    number: int,
    block: Callable[[int, int], tuple],
    most: int,
) -> Any:
    """Makes a dataset of `number` batches, or returns `None` if that is not possible.

    Args:
        arrays: the arrays that the batches are taken from.
        batch_size: examples in a batch.
        number: batches in an epoch.
        block: function `(index, most) -> (batches, count)` that joins up to `most` batches.
        most: largest number of batches in a block.
    """
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
