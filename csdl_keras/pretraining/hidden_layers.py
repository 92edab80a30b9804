"""The layers of a network that pre-training goes through."""

import keras

from csdl_keras._utils.structure import has_structure, inputs_of


def hidden_layers(model: keras.Model) -> list[keras.layers.Dense]:
    """The hidden `Dense` layers of a model, from the bottom up.

    Args:
        model: a functional or sequential model; its last `Dense` layer is the
            output layer.

    Returns:
        Every other `Dense` layer.

    Raises:
        ValueError: if there is none, or one whose input is not
            `(batch, features)`, or the model is not functional or sequential.

    Example:

    >>> import csdl_keras
    >>> model = csdl_keras.models.mlp((6,), num_classes=3, hidden_units=(5, 4))
    >>> [layer.name for layer in hidden_layers(model)]
    ['hidden_1', 'hidden_2']
    """
    if not has_structure(model):
        raise ValueError(
            "Expected `model` to be a functional or sequential keras.Model whose inputs are "
            f"known; received {type(model).__name__}."
        )
    # The last Dense layer is the output layer, whatever stands behind it: a softmax, a decision.
    layers = [layer for layer in model.layers if isinstance(layer, keras.layers.Dense)][:-1]
    if not layers:
        raise ValueError(
            f"Expected a model with hidden keras.layers.Dense layers; received {model.name!r} "
            f"with {[type(layer).__name__ for layer in model.layers]}. The last Dense layer "
            "counts as the output layer; layers inside nested models are not looked at."
        )
    for layer in layers:
        if len(layer.input.shape) != 2:
            raise ValueError(
                "Expected hidden Dense layers with inputs (batch, features); received "
                f"{layer.name!r} with {tuple(layer.input.shape)}."
            )
    return layers


def below_layer(model: keras.Model, layer: keras.layers.Layer) -> keras.Model | None:
    """The part of `model` that feeds `layer`; None if that is the model's own input."""
    if layer.input is model.inputs[0]:
        return None
    return keras.Model(inputs_of(model), layer.input)
