"""Labels and costs in one tensor of a TensorFlow pipeline."""

from typing import Any


def join_tensors(labels: Any, costs: Any) -> Any:
    """`[y, c_1, ..., c_D]` as float32, of one example or a batch.

    Pipelines are TensorFlow's on every backend.

    Args:
        labels: tensor `()` or `(batch,)`.
        costs: tensor `(D,)` or `(batch, D)`.
    """
    import tensorflow as tf

    return tf.concat([tf.cast(labels, "float32")[..., None], tf.cast(costs, "float32")], axis=-1)
