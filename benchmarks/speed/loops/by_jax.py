"""A training loop in JAX."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from loops import Loop


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


class FrameworkLoop(Loop):
    """A loop in JAX."""

    def __init__(self, weights, learning_rate):
        self.weights = [jnp.array(array) for array in weights]
        self.rate = learning_rate

    def step(self, x, y):
        self.weights, loss = _step(self.weights, self.rate, x, y)
        return loss

    def arrays(self):
        return [np.asarray(array) for array in self.weights]
