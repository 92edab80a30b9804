"""Random numbers of a batch that replicas share."""

from collections.abc import Sequence
from typing import Any

import keras


def batch_uniform(shape: Sequence[Any], seed_generator: keras.random.SeedGenerator) -> Any:
    """Uniform float32 numbers in [0, 1), for each example those that it has in one process.

    Under `tf.distribute` a function sees the examples of its replica alone, while
    the state of the generator is the same everywhere: so each replica draws for the
    global batch and takes its part. Elsewhere the batch is the global one.

    Args:
        shape: of the batch, examples along the first axis; in a replica, of its part.
        seed_generator: which gives the numbers.
    """
    replica, replicas = _replica()
    size = shape[0]
    numbers = keras.random.uniform(
        (replicas * size, *shape[1:]), dtype="float32", seed=seed_generator
    )
    return numbers if replicas == 1 else numbers[replica * size : (replica + 1) * size]


def _replica() -> tuple[Any, int]:
    """The index of this replica, and their number."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        context = tf.distribute.get_replica_context()
        if context is not None and context.num_replicas_in_sync > 1:
            return context.replica_id_in_sync_group, context.num_replicas_in_sync
    return 0, 1
