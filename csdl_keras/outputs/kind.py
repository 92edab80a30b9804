"""Derives from a model's structure whether it outputs costs or probabilities."""

from typing import Any

import keras

from csdl_keras._utils.checks import OUTPUTS, check_choice
from csdl_keras._utils.structure import estimator_hint, has_structure, inputs_of
from csdl_keras._utils.types import Tensor
from csdl_keras.outputs.values import check_values, outputs_at_random

_CLASSIFIER_LOSSES = (
    keras.losses.BinaryCrossentropy,
    keras.losses.BinaryFocalCrossentropy,
    keras.losses.CategoricalCrossentropy,
    keras.losses.CategoricalFocalCrossentropy,
    keras.losses.CategoricalGeneralizedCrossEntropy,
    keras.losses.CategoricalHinge,
    keras.losses.KLDivergence,
    keras.losses.SparseCategoricalCrossentropy,
)


_MEANING = {
    "cost": "outputs costs",
    "probability": "outputs probabilities",
    "score": "outputs logarithms of probabilities, which are neither costs nor probabilities",
    "other": "gives no probabilities: end the model in a softmax, or, if it outputs logits, pass "
    "it to bayes_classifier with from_logits=True",
}


def _snake(name: str) -> str:
    text = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return {"_k_l_divergence": "kl_divergence"}.get(text, text[1:])


# Names of the same losses as functions.
_CLASSIFIER_NAMES = {_snake(kind.__name__) for kind in _CLASSIFIER_LOSSES}


def output_kind(model: keras.Model, output: str | None = None) -> str:
    """Returns whether a model outputs costs or probabilities.

    The last layer shows it: `BayesDecision` and `CostOutput` output costs; a softmax or a single
    logistic unit outputs probabilities. This also holds for reloaded and nested models. Give
    your own layer or subclassed model an attribute `output_kind = "cost"` or `"probability"`.

    Args:
        model: the model.
        output: `"cost"` or `"probability"` for a model whose structure does not show it. It is
            checked against the structure and the compiled loss; costs are also checked against
            the outputs for random inputs.

    Returns:
        `"cost"` or `"probability"`.

    Raises:
        ValueError: if the structure does not show it and `output` is None, if `output`
            contradicts the structure, or if costs were trained with a classifier's loss.

    Example:

    >>> import csdl_keras
    >>> output_kind(csdl_keras.models.mlp((4,), num_classes=3, output="cost"))
    'cost'
    """
    if not isinstance(model, keras.Model):
        raise ValueError(
            f"Expected a keras.Model; received {type(model).__name__}.{estimator_hint(model)}"
        )
    if output is not None:
        check_choice("output", output, OUTPUTS)
    kind, layer = describe_output(model)
    if kind not in OUTPUTS and hasattr(model, "cost_model"):
        raise ValueError(
            f"Expected a model of costs alone; received {model.name!r}, whose outputs are for "
            "training. Decide by its `cost_model()`."
        )
    if kind not in OUTPUTS and output is None:
        raise ValueError(
            f"Expected a model that ends in BayesDecision, CostOutput, a softmax or one logistic "
            f"unit; received {model.name!r}, which ends in {layer}. Pass output='cost' or "
            "output='probability'."
        )
    if output is not None:
        _check_claim(model, output, kind, layer)
    answer = kind if kind in OUTPUTS else str(output)
    ends = f"{model.name!r}, which ends in {layer}"
    check_loss(answer, ends, loss_of(model, 0, 1))
    return answer


def _check_claim(model: keras.Model, output: str, kind: str, layer: str) -> None:
    """Raises if `output` contradicts a model's structure or the values of its outputs."""
    possible = {"cost": ("cost", "other", "unknown"), "probability": ("probability", "unknown")}
    if kind not in possible[output]:
        raise ValueError(
            f"Expected `output` to say what {model.name!r} outputs; received output={output!r}, "
            f"but it ends in {layer}, which {_MEANING[kind]}."
        )
    # Rows that sum to 1 for random inputs are probabilities; other rows may be either.
    if output == "cost" and kind == "unknown" and has_structure(model) and len(model.outputs) == 1:
        values = outputs_at_random(model, inputs_of(model))
        if values is not None:
            check_values(values, output)


def check_loss(kind: str, model: str, loss: object) -> None:
    """Raises if costs were trained with a classifier's loss, so that argmin is the worst class.

    Args:
        kind: the kind of the model's output.
        model: the model and its last layer in words.
        loss: loss of the output, as `keras.Model.compile` takes it.
    """
    if kind == "cost" and loss_kind(loss) == "probability":
        raise ValueError(
            f"Expected a loss of costs, such as SOSRLoss, for the costs of {model}; received "
            f"{loss_name(loss)}, which trains scores of classes, highest for the right one. Train "
            "a classifier with it that ends in a softmax, and pass that to bayes_classifier."
        )


def loss_of(model: keras.Model, place: int, number: int) -> Any:
    """Returns the loss that an output was compiled with, or `None` if that is unknown."""
    loss = getattr(model, "loss", None)
    return loss if not keras.tree.is_nested(loss) else for_output(loss, model, place, number)


def for_output(given: Any, model: keras.Model, place: int, number: int) -> Any:
    """Returns the losses or metrics of one output from those of all, or `None`.

    Args:
        given: what `compile` was given.
        model: the model.
        place: index of the output.
        number: number of outputs; a single output has all losses or metrics.
    """
    if number == 1:
        flat = keras.tree.flatten(given)
        return flat[0] if len(flat) == 1 else flat
    if isinstance(given, dict):
        output = model.output if has_structure(model) else None
        names = sorted(output) if isinstance(output, dict) else getattr(model, "output_names", [])
        return given.get(names[place]) if len(names) == number else None
    return given[place] if isinstance(given, (list, tuple)) and len(given) == number else None


def loss_kind(loss: object) -> str | None:
    """Returns the kind of outputs that a loss trains, or `None` if that is unknown."""
    if isinstance(loss, str):
        try:
            loss = keras.losses.get(loss)
        except ValueError:  # `fit` raises Keras' own error.
            return None
    if isinstance(loss, _CLASSIFIER_LOSSES) or getattr(loss, "__name__", "") in _CLASSIFIER_NAMES:
        return "probability"
    return getattr(loss, "output_kind", None)


def of_logits(loss: object) -> bool:
    """Returns True if a classifier's loss has `from_logits=True`."""
    config = loss.get_config() if isinstance(loss, keras.losses.Loss) else {}
    return bool(config.get("from_logits", False))


def loss_name(loss: object) -> str:
    """Returns the name of a loss for an error message."""
    return repr(loss) if isinstance(loss, str) else getattr(loss, "__name__", type(loss).__name__)


def describe_output(model: keras.Model) -> tuple[str, str]:
    """Returns the kind of a model's output and its last layer in words.

    The kind may also be `"score"` for a logarithm of probabilities, `"other"` for an activation
    that gives no distribution, or `"unknown"` for other layers and subclassed models.
    """
    declared = getattr(model, "output_kind", None)
    if declared in OUTPUTS:
        return declared, type(model).__name__
    if not has_structure(model) or len(model.outputs) != 1:
        return "unknown", "an output that its structure does not show"
    return describe_tensor(model.outputs[0])


def describe_tensor(tensor: Tensor) -> tuple[str, str]:
    """Returns the kind and the layer of a symbolic output, as `describe_output` does."""
    history = tensor._keras_history
    layer: Any = history.operation
    if isinstance(layer, keras.layers.TimeDistributed):
        layer = layer.layer
    if isinstance(layer, keras.Model):
        return describe_output(layer)
    if isinstance(layer, keras.layers.Average) or getattr(layer, "keeps_output_kind", False):
        # A mean of costs is a cost; a mean of probabilities is a probability.
        parts = layer._inbound_nodes[history.node_index].input_tensors
        kinds = {describe_tensor(part)[0] for part in parts}
        return (
            kinds.pop() if len(kinds) == 1 else "unknown"
        ), f"{type(layer).__name__} {layer.name!r}"
    words = f"{type(layer).__name__} {layer.name!r}"
    declared = getattr(layer, "output_kind", None)
    if declared in OUTPUTS:
        return declared, words
    # Softmax may be a layer, an activation or an operation of Keras.
    if type(layer).__name__ == "Softmax":
        last = getattr(layer, "axis", -1) in (-1, len(tensor.shape) - 1)
        return ("probability" if last else "other"), words
    if type(layer).__name__ == "LogSoftmax":
        return "score", words
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
    if activation is keras.activations.log_softmax:
        return "score", words
    builtin = getattr(keras.activations, getattr(activation, "__name__", ""), None) is activation
    return ("other" if builtin else "unknown"), words
