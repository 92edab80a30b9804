"""What a model's output is, read off its structure."""

from typing import Any

import keras

from csdl_keras._checks import check_choice
from csdl_keras._ops import has_structure
from csdl_keras.layers import (
    BayesDecision,
    ClassProbabilities,
    CostOutput,
    ExpectedCost,
    InverseLink,
    TemperatureScaling,
)
from csdl_keras.layers.decision import OUTPUTS


def output_kind(model: keras.Model, output: str | None = None) -> str:
    """Whether a model outputs costs or probabilities.

    Read off the last layer, never off values: `BayesDecision` and `CostOutput`
    output costs; a softmax, and a single logistic unit, probabilities. This
    holds for a reloaded model too, and through nested models.

    Args:
        model: the model.
        output: the answer, where it is known: `"cost"` or `"probability"`.

    Returns:
        `"cost"` or `"probability"`.

    Raises:
        ValueError: if the structure does not tell and `output` is None, or it is no
            model.

    Example:

    >>> import csdl_keras
    >>> output_kind(csdl_keras.models.mlp((4,), num_classes=3, output="cost"))
    'cost'
    """
    if not isinstance(model, keras.Model):
        raise ValueError(f"Expected a keras.Model; received {type(model).__name__}.")
    if output is not None:
        return check_choice("output", output, OUTPUTS)
    kind, layer = describe_output(model)
    if kind not in OUTPUTS and hasattr(model, "cost_model"):
        raise ValueError(
            f"Expected a model of costs alone; received {model.name!r}, whose outputs are for "
            "training. Decide by its `cost_model()`."
        )
    if kind not in OUTPUTS:
        raise ValueError(
            f"Expected a model that ends in BayesDecision, CostOutput, a softmax or one logistic "
            f"unit; received {model.name!r}, which ends in {layer}. Pass output='cost' or "
            "output='probability'."
        )
    return kind


def describe_output(model: keras.Model) -> tuple[str, str]:
    """`(kind, last layer in words)`; kind is also `"other"` or `"unknown"`.

    `"other"` is an activation that is known to give no distribution; `"unknown"` a
    layer, or a subclassed model, that cannot be looked into.
    """
    if not has_structure(model) or len(model.outputs) != 1:
        return "unknown", "an output that its structure does not show"
    return _describe_tensor(model.outputs[0])


def _describe_tensor(tensor: Any) -> tuple[str, str]:
    history = tensor._keras_history
    layer: Any = history.operation
    if isinstance(layer, keras.Model):
        return describe_output(layer)
    if isinstance(layer, keras.layers.Average):
        # A mean of costs is a cost, one of probabilities a probability.
        parts = layer._inbound_nodes[history.node_index].input_tensors
        kinds = {_describe_tensor(part)[0] for part in parts}
        return (kinds.pop() if len(kinds) == 1 else "unknown"), f"Average {layer.name!r}"
    words = f"{type(layer).__name__} {layer.name!r}"
    if isinstance(layer, (BayesDecision, CostOutput, ExpectedCost, InverseLink)):
        return "cost", words
    if isinstance(layer, (ClassProbabilities, TemperatureScaling)):
        return "probability", words
    # Keras' own softmax comes as a layer, as an activation, or as the operation of that name.
    if type(layer).__name__ == "Softmax":
        axis = getattr(layer, "axis", -1)
        return ("probability" if axis in (-1, 1) else "other"), words
    if type(layer).__name__ == "Sigmoid":
        return ("probability" if tensor.shape[-1] == 1 else "other"), words
    activation = getattr(layer, "activation", None)
    if activation is None:
        return "unknown", words
    words = f"{words} with activation {getattr(activation, '__name__', activation)!r}"
    if activation is keras.activations.softmax:
        return "probability", words
    if activation is keras.activations.sigmoid and tensor.shape[-1] == 1:
        return "probability", words
    builtin = getattr(keras.activations, getattr(activation, "__name__", ""), None) is activation
    return ("other" if builtin else "unknown"), words
