"""Small networks, and what tables of functions that make models compare of them."""

import functools

import keras
import numpy as np

from csdl_keras import models
from tests.support.testing import to_numpy

X = np.random.default_rng(0).normal(size=(3, 4)).astype("float32")
IMAGES = np.full((3, 8, 8, 3), 0.5, "float32")


@functools.cache
def network(output="probability", seed=0):
    return models.mlp((4,), 3, (5,), output=output, seed=seed)


@functools.cache
def of_images():
    return models.convnet((8, 8, 3), 3, filters=(4,), seed=0)


@functools.cache
def body():
    inputs = keras.Input((4,))
    return keras.Model(inputs, keras.layers.Dense(5, "tanh")(inputs))


def outputs(found):
    """The outputs of a model, or what else a function returns."""
    if not isinstance(found, keras.Model):
        return found if isinstance(found, (str, dict)) else [layer.name for layer in found]
    given = [IMAGES if len(found.inputs[0].shape) == 4 else X]
    given += [np.ones((3, *end.shape[1:]), "float32") for end in found.inputs[1:]]
    out = found(given if len(given) > 1 else given[0])
    return keras.tree.map_structure(to_numpy, out)
