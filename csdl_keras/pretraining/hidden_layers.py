"""Finds the hidden layers that pre-training trains one after the other."""

import keras

from csdl_keras._utils.structure import inputs_of


def hidden_layers(model: keras.Model) -> list[keras.layers.Dense]:
    """Returns the `Dense` layers of a model before its last one, from the bottom up.

    Args:
        model: a functional or sequential model.

    Raises:
        ValueError: if there is none, or the model is not functional or sequential.

    Example:

    >>> import csdl_keras
    >>> model = csdl_keras.models.mlp((6,), num_classes=3, hidden_units=(5, 4))
    >>> [layer.name for layer in hidden_layers(model)]
    ['hidden_1', 'hidden_2']
    """
    inputs_of(model)
    # A softmax or a decision may follow the last Dense layer, which is the output layer.
    layers = [layer for layer in model.layers if isinstance(layer, keras.layers.Dense)][:-1]
    if not layers:
        raise ValueError(
            f"{model.name!r} has no hidden keras.layers.Dense layers, only "
            f"{[type(layer).__name__ for layer in model.layers]}. The last Dense layer counts as "
            "the output layer; layers inside nested models do not count."
        )
    return layers


def below_layer(model: keras.Model, layer: keras.layers.Layer) -> keras.Model | None:
    """Returns the part of `model` below `layer`; `None` if this is the model's own input."""
    if layer.input is model.inputs[0]:
        return None
    return keras.Model(inputs_of(model), layer.input)
