"""The machine's own limit: seconds of float32 matrix products, as a backend computes them."""

from collections import Counter
from collections.abc import Iterable

import keras
import numpy as np
from paired import seconds

Product = tuple[int, int, int]


def product(rows: int, inner: int, columns: int):
    """A call that multiplies matrices of those sizes on the backend in use."""
    rng = np.random.default_rng(0)
    left = rng.normal(size=(rows, inner)).astype("float32")
    right = rng.normal(size=(inner, columns)).astype("float32")
    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        a, b = tf.constant(left), tf.constant(right)
        multiply = tf.function(lambda: tf.reduce_sum((a @ b)[0, :1]))
        return lambda: multiply().numpy()
    if backend == "jax":
        import jax

        a, b = jax.device_put(left), jax.device_put(right)
        compiled = jax.jit(lambda a, b: a @ b)
        return lambda: compiled(a, b).block_until_ready()
    import torch

    a, b = torch.from_numpy(left), torch.from_numpy(right)
    return lambda: (a @ b)[0, 0].item()


def operations(products: Iterable[Product]) -> float:
    """Floating point operations of matrix products."""
    return 2.0 * sum(rows * inner * columns for rows, inner, columns in products)


def limit(products: Iterable[Product], repeats: int = 20) -> float:
    """Seconds of matrix products of those sizes, one after the other, the median of each."""
    total = 0.0
    for sizes, count in Counter(products).items():
        multiply = product(*sizes)
        multiply()
        total += count * float(np.median([seconds(multiply) for _ in range(repeats)]))
    return total


def layer_products(inputs: int, outputs: int, batch: int, below: bool) -> list[Product]:
    """The products of a dense layer in a training step.

    Forward, the kernel's gradient, and the inputs' where they come from a layer below.
    """
    products = [(batch, inputs, outputs), (inputs, batch, outputs)]
    return products + [(batch, outputs, inputs)] * below
