"""The machine's own limit: float32 matrix products per second."""

import keras
import numpy as np
from paired import Ratio, seconds


def product(rows: int, inner: int, columns: int):
    """A call that multiplies matrices of those sizes on the backend in use, and its operations."""
    rng = np.random.default_rng(0)
    left = rng.normal(size=(rows, inner)).astype("float32")
    right = rng.normal(size=(inner, columns)).astype("float32")
    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        a, b = tf.constant(left), tf.constant(right)
        multiply = tf.function(lambda: a @ b)
        return (lambda: multiply().numpy()), 2 * rows * inner * columns
    if backend == "jax":
        import jax

        a, b = jax.device_put(left), jax.device_put(right)
        compiled = jax.jit(lambda a, b: a @ b)
        return (lambda: compiled(a, b).block_until_ready()), 2 * rows * inner * columns
    import torch

    a, b = torch.from_numpy(left), torch.from_numpy(right)
    return (lambda: (a @ b)[0, 0].item()), 2 * rows * inner * columns


def rate(rows: int, inner: int, columns: int, repeats: int = 30) -> Ratio:
    """Operations a second of such products."""
    multiply, operations = product(rows, inner, columns)
    multiply()
    return Ratio.of(operations / np.array([seconds(multiply) for _ in range(repeats)]))
