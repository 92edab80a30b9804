"""Finds whether a model outputs costs or probabilities, by its last layer, loss and values."""

import keras
import numpy as np

from csdl_keras._utils.checks import OUTPUTS, check_choice
from csdl_keras._utils.keras_private import layer_of, sources_of
from csdl_keras._utils.structure import estimator_hint, has_structure, inputs_of
from csdl_keras._utils.types import Tensor
from csdl_keras.costs.checks import probability_rows

# Parts of the names of losses that train scores of classes.
_CLASSIFIER_LOSSES = ("crossentropy", "categoricalhinge", "kldivergence")
_OPERATIONS = {"Softmax": "softmax", "LogSoftmax": "log_softmax", "Sigmoid": "sigmoid"}

_TRAINED = {
    "cost": "estimates of costs, lowest for the right class",
    "probability": "scores of classes, highest for the right one",
}
MEANING = {
    "cost": "outputs costs",
    "probability": "outputs probabilities",
    "score": "outputs logarithms of probabilities. Pass it to bayes_classifier with "
    "from_logits=True",
    "other": "does not output probabilities. End it in a softmax or, for logits, pass it to "
    "bayes_classifier with from_logits=True",
}


def output_kind(model: keras.Model, output: str | None = None) -> str:
    """Returns whether a model outputs costs or probabilities.

    The last layer shows the kind: `BayesDecision` and `CostOutput` output costs, a softmax or a
    single logistic unit outputs probabilities. Give your own layer or subclassed model an attribute
    `output_kind = "cost"` or `"probability"`.

    Args:
        model: the model.
        output: `"cost"` or `"probability"` for a model whose structure does not show it; it is
            checked as far as possible. `None` (default) infers it.

    Raises:
        ValueError: if the structure does not show the kind and there is no `output`, or if
            structure, `output` and compiled loss contradict each other.

    Example:

    >>> import csdl_keras
    >>> output_kind(csdl_keras.models.mlp((4,), num_classes=3, output="cost"))
    'cost'
    """
    if not isinstance(model, keras.Model):
        raise ValueError(
            f"Expected a keras.Model; received {type(model).__name__}.{estimator_hint(model)}"
        )
    kind, layer = describe_output(model)
    for_training = hasattr(model, "cost_model")
    if kind not in OUTPUTS and (output is None or for_training):
        hint = "Pass output='cost' or output='probability'."
        if for_training:
            hint = "Its outputs are for training: decide by its `cost_model()`."
        raise ValueError(
            f"{model.name!r} ends in {layer}, which does not show whether it outputs costs or "
            f"probabilities. {hint}"
        )
    if output is not None:
        check_choice("output", output, OUTPUTS)
        possible = {"cost": ("cost", "other", "unknown"), "probability": ("probability", "unknown")}
        if kind not in possible[output]:
            raise ValueError(
                f"output={output!r} contradicts {model.name!r}: it ends in {layer}, so it "
                f"{MEANING[kind]}."
            )
        # Rows that sum to 1 for random inputs are probabilities; other rows may be either.
        if output == "cost" and kind == "unknown":
            check_values(_outputs_at_random(model), output)
        kind = output
    check_loss(model, kind)
    return kind


def _outputs_at_random(model: keras.Model) -> np.ndarray:
    """Returns the outputs of a model for two random inputs, or no rows if it raises."""
    rng = np.random.default_rng(0)

    def drawn(end: Tensor) -> Tensor:
        shape = (2, *(known or 32 for known in end.shape[1:]))
        return keras.ops.cast(rng.uniform(size=shape), end.dtype)

    try:
        outputs = model(keras.tree.map_structure(drawn, inputs_of(model)), training=False)
        return keras.ops.convert_to_numpy(outputs)
    except Exception:  # A model may raise any error for such inputs.
        return np.empty((0, 1))


def check_values(values: np.ndarray, output: str) -> None:
    """Raises if outputs `(N, ..., D)` are probabilities instead of costs, or the reverse."""
    rows = values.reshape(-1, values.shape[-1])
    rows = rows[~np.isnan(rows.astype("float64")).any(axis=1)]
    if output == "probability":
        # A softmax in 16 bits is less exact, and its outputs may have been converted since.
        wrong = rows[~probability_rows(rows, loose=True)]
        if len(wrong):
            raise ValueError(
                f"{len(wrong)} of {len(rows)} rows of outputs, such as "
                f"{np.round(wrong[0], 4).tolist()}, are not probabilities: they do not sum to 1 "
                "or are outside [0, 1]. For costs, pass output='cost'. For logits, end the model "
                "in a softmax or pass it to bayes_classifier with from_logits=True."
            )
    # Expected costs in two columns sum to 1 as well, if each of two mistakes costs 1.
    elif len(rows) > 1 and rows.shape[1] > 2 and probability_rows(rows).all():
        raise ValueError(
            "All rows of outputs sum to 1, such as "
            f"{np.round(rows[0], 4).tolist()}, so they are probabilities instead of costs. Pass "
            "output='probability', or end the model in CostOutput or BayesDecision."
        )


def check_loss(model: keras.Model, kind: str) -> None:
    """Raises if a model's loss trains costs but its outputs are probabilities, or the reverse."""
    losses = keras.tree.flatten(getattr(model, "loss", None))
    wanted = kind if kind == "cost" else "probability"
    if len(losses) != 1:
        return
    loss = keras.losses.get(losses[0]) if isinstance(losses[0], str) else losses[0]
    name = getattr(loss, "__name__", type(loss).__name__)
    plain = name.replace("_", "").lower()
    of_classes = any(word in plain for word in _CLASSIFIER_LOSSES)
    trained = getattr(loss, "output_kind", "probability" if of_classes else wanted)
    if trained != wanted:
        raise ValueError(
            f"Expected a loss that trains {_TRAINED[wanted]}, for the {kind} of {model.name!r}, "
            f"which ends in {describe_output(model)[1]}; received {name}, which trains "
            f"{_TRAINED[trained]}."
        )


def describe_output(model: keras.Model) -> tuple[str, str]:
    """Returns the kind of output, a key of `MEANING` or `"unknown"`, and the last layer."""
    declared = getattr(model, "output_kind", None)
    if declared in OUTPUTS:
        return declared, type(model).__name__
    if not has_structure(model) or len(model.outputs) != 1:
        return "unknown", "an output that its structure does not show"
    return describe_tensor(model.outputs[0])


def describe_tensor(tensor: Tensor) -> tuple[str, str]:
    """Returns the kind and the layer of a symbolic output, as `describe_output` does."""
    layer = layer_of(tensor)
    if isinstance(layer, keras.layers.TimeDistributed):
        layer = layer.layer
    if isinstance(layer, keras.Model):
        return describe_output(layer)
    words, one = f"{type(layer).__name__} {layer.name!r}", tensor.shape[-1] == 1
    if isinstance(layer, keras.layers.Average) or getattr(layer, "keeps_output_kind", False):
        # A mean of costs is a cost; a mean of probabilities is a probability.
        kinds = {describe_tensor(part)[0] for part in sources_of(tensor)}
        return (kinds.pop() if len(kinds) == 1 else "unknown"), words
    declared = getattr(layer, "output_kind", None)
    if declared in OUTPUTS:
        return declared, words
    # A softmax may be a layer, an activation or an operation of Keras.
    name, activation = _OPERATIONS.get(type(layer).__name__), getattr(layer, "activation", None)
    if name is None and activation is None:
        return "unknown", words
    if name is None:
        name = getattr(activation, "__name__", str(activation))
        words = f"{words} with activation {name!r}"
        if getattr(keras.activations, name, None) is not activation:
            return "unknown", words
    last = getattr(layer, "axis", -1) in (-1, len(tensor.shape) - 1)
    if (name == "softmax" and last) or (name == "sigmoid" and one):
        return "probability", words
    return ("score" if name == "log_softmax" else "other"), words
