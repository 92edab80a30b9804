"""Comparisons of the weights of whole models."""

from typing import Any

import keras
import numpy as np

from tests.support.testing import to_numpy


def weights_by_layer(model: keras.Model) -> dict[str, list[np.ndarray]]:
    """Copies of the weights of each layer that has some, by name of the layer."""
    return {
        layer.name: [np.array(to_numpy(weight)) for weight in layer.weights]
        for layer in model.layers
        if layer.weights
    }


def changed_layers(model: keras.Model, before: dict[str, list[np.ndarray]]) -> list[str]:
    """Names of the layers whose weights are not bit for bit what they were."""
    return [
        name
        for name, weights in weights_by_layer(model).items()
        if any(np.any(old != new) for old, new in zip(before[name], weights, strict=True))
    ]


def assert_same_weights(a: Any, b: Any, atol: float = 0.0, rtol: float = 0.0) -> None:
    """Checks that two models, or lists of arrays, agree: bit for bit unless told otherwise."""
    lists = [x.get_weights() if isinstance(x, keras.Model) else x for x in (a, b)]
    for left, right in zip(*lists, strict=True):
        np.testing.assert_allclose(left, right, atol=atol, rtol=rtol)
