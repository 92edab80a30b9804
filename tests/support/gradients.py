"""Gradients on any backend."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from tests.support.testing import to_numpy


def gradient(function: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    """The gradient of `function`, from a float tensor to a scalar, at `x`."""
    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        tensor = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(tensor)
            value = function(tensor)
        return to_numpy(tape.gradient(value, tensor))
    if backend == "jax":
        import jax

        return to_numpy(jax.grad(function)(keras.ops.convert_to_tensor(x)))
    tensor = keras.ops.convert_to_tensor(x).detach().requires_grad_(True)
    function(tensor).backward()
    return to_numpy(tensor.grad)
