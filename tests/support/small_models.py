"""Models of three features that are built with Keras alone."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np

FEATURES = 3


def functional(layers: list[Callable[[Any], Any]], **kwargs: Any) -> keras.Model:
    inputs = x = keras.Input((FEATURES,))
    for layer in layers:
        x = layer(x)
    return randomized(keras.Model(inputs, x, **kwargs))


def sequential(layers: list[keras.layers.Layer]) -> keras.Model:
    return randomized(keras.Sequential([keras.Input((FEATURES,)), *layers]))


def nested(layers: list[keras.layers.Layer]) -> keras.Model:
    """A model whose one layer is a Sequential, which ends in another."""
    inner = keras.Sequential([keras.layers.Dense(5, "relu"), keras.Sequential(layers)])
    return functional([inner])


BUILDERS = {"functional": functional, "sequential": sequential, "nested": nested}


@keras.saving.register_keras_serializable(package="tests")
class Twice(keras.layers.Layer):
    """A layer of unknown structure."""

    def call(self, inputs: Any) -> Any:
        return 2.0 * inputs


class Subclassed(keras.Model):
    """A model of unknown structure."""

    def __init__(self, units: int, activation: str | None = None):
        super().__init__()
        self.dense = keras.layers.Dense(units, activation)

    def build(self, input_shape: Any) -> None:
        self.dense.build(input_shape)
        self.built = True

    def call(self, inputs: Any) -> Any:
        return self.dense(inputs)


def randomized(model: keras.Model) -> keras.Model:
    """`model` with weights that spread its outputs: large kernels, small biases."""
    rng = np.random.default_rng(3)
    model.set_weights(
        [rng.normal(scale=2.0 if w.ndim > 1 else 0.1, size=w.shape) for w in model.get_weights()]
    )
    return model


def inputs(rows: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(rows, FEATURES)).astype("float32")
