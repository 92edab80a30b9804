"""A training loop in JAX."""

import functools

import jax
import jax.numpy as jnp
import numpy as np


def _loss(weights, x, y):
    for kernel, bias in zip(weights[:-2:2], weights[1:-2:2], strict=True):
        x = jax.nn.sigmoid(x @ kernel + bias)
    estimates = x @ weights[-2] + weights[-1]
    cheapest = jnp.min(y, axis=-1, keepdims=True)
    sign = jnp.where(y == cheapest, 1.0, -1.0)
    return jnp.mean(jnp.sum(jax.nn.softplus(sign * (estimates - y)), axis=-1))


@functools.partial(jax.jit, donate_argnums=0)
def _step(weights, rate, x, y):
    loss, slopes = jax.value_and_grad(_loss)(weights, x, y)
    return [array - rate * slope for array, slope in zip(weights, slopes, strict=True)], loss


class Loop:
    """Trains a network of logistic layers and a linear one by SOSR and SGD.

    Args:
        weights: initial kernels and biases in turn.
        learning_rate: of SGD.
    """

    def __init__(self, weights, learning_rate):
        self.weights = [jnp.array(array) for array in weights]
        self.rate = learning_rate

    def run(self, x, y, batch_size):
        """Trains an epoch; returns the last loss."""
        loss = None
        for start in range(0, len(x), batch_size):
            part = slice(start, start + batch_size)
            self.weights, loss = _step(self.weights, self.rate, x[part], y[part])
        return float(loss)

    def arrays(self):
        """The weights."""
        return [np.asarray(array) for array in self.weights]
