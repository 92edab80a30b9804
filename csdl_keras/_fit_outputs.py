"""Tells losses, metrics and layers what the model outputs whose `fit` is calling them.

Keras hands them tensors and no model, so the model is found on the call stack: of
`fit` and `evaluate` on every backend, while they build and trace their step. So an
output that is taken for what it is not raises before the first step.
"""

import functools
import sys
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

import keras
import numpy as np

from csdl_keras._checks import OUTPUTS
from csdl_keras._ops import has_structure, inputs_of
from csdl_keras._output_values import outputs_at_random, probability_rows
from csdl_keras.output_kind import (
    check_loss,
    describe_output,
    describe_tensor,
    loss_kind,
    loss_name,
    of_logits,
)

_COMPUTE = ("compute_loss", "compute_metrics")
_STEPS = ("_symbolic_build", "train_step", "test_step")

_CLASSIFIER_METRICS = (
    keras.metrics.AUC,
    keras.metrics.Accuracy,
    keras.metrics.BinaryAccuracy,
    keras.metrics.BinaryCrossentropy,
    keras.metrics.CategoricalAccuracy,
    keras.metrics.CategoricalCrossentropy,
    keras.metrics.FBetaScore,
    keras.metrics.FalseNegatives,
    keras.metrics.FalsePositives,
    keras.metrics.Precision,
    keras.metrics.PrecisionAtRecall,
    keras.metrics.Recall,
    keras.metrics.RecallAtPrecision,
    keras.metrics.SensitivityAtSpecificity,
    keras.metrics.SparseCategoricalAccuracy,
    keras.metrics.SparseCategoricalCrossentropy,
    keras.metrics.SparseTopKCategoricalAccuracy,
    keras.metrics.SpecificityAtSensitivity,
    keras.metrics.TopKCategoricalAccuracy,
    keras.metrics.TrueNegatives,
    keras.metrics.TruePositives,
)

_CLASSIFIER_NAMES = (
    "acc",
    "accuracy",
    "auc",
    "ce",
    "crossentropy",
    "binary_accuracy",
    "binary_crossentropy",
    "categorical_accuracy",
    "categorical_crossentropy",
    "sparse_categorical_accuracy",
    "sparse_categorical_crossentropy",
    "sparse_top_k_categorical_accuracy",
    "top_k_categorical_accuracy",
)

# The outputs of models of unknown structure for random inputs, and how often they gave none.
_ASKED: weakref.WeakKeyDictionary[keras.Model, np.ndarray] = weakref.WeakKeyDictionary()
_REFUSED: weakref.WeakKeyDictionary[keras.Model, int] = weakref.WeakKeyDictionary()


class FitOutput(NamedTuple):
    """An output of the model that is being fitted or evaluated.

    Args:
        kind: `"cost"`, `"probability"`; `"distribution"` if nothing but its rows for
            random inputs, which sum to 1, tells that it is a probability; `"score"`
            where a loss of classifiers trains it, or it is a logarithm, and it is no
            probability; `"other"` if it is known to be no probability; `"unknown"`.
        structure: the kind by structure alone, see `describe_output`.
        words: the model and its last layer, as an error message names them.
        rows: returns the outputs for two random inputs, `(2, D)`, or `None`.
    """

    kind: str
    structure: str
    words: str
    rows: Callable[[], np.ndarray | None]


def fit_output(y_pred: Any) -> FitOutput | None:
    """The output of the model in `fit` or `evaluate` that `y_pred` is, if there is one.

    It also checks what is compiled beside the caller, see `check_compiled`.

    Args:
        y_pred: the tensor that a loss or metric is given.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name in _COMPUTE:
            values = frame.f_locals
            model, outputs = values.get("self"), keras.tree.flatten(values.get("y_pred"))
            places = [place for place, one in enumerate(outputs) if one is y_pred]
            if isinstance(model, keras.Model) and places:
                found = _describe(model, places[0], len(outputs), frame)
                if len(outputs) == 1:
                    check_compiled(model, found)
                return found
        frame = frame.f_back
    return None


def check_cost_layer(layer: keras.layers.Layer) -> None:
    """Raises if a layer of costs ends a model that is being fitted as a classifier."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name in _STEPS:
            model = frame.f_locals.get("self")
            if isinstance(model, keras.Model) and has_structure(model) and len(model.outputs) == 1:
                if model.outputs[0]._keras_history.operation is layer:
                    check_compiled(model, _describe(model, 0, 1, frame))
            return
        frame = frame.f_back


def check_compiled(model: keras.Model, output: FitOutput) -> None:
    """Raises if Keras' own losses or metrics take the costs of a model for scores of classes."""
    if output.kind != "cost":
        return
    check_loss("cost", output.words, model.loss)
    for metric in _compiled_metrics(model):
        name = metric if isinstance(metric, str) else getattr(metric, "name", "")
        name = name or getattr(metric, "__name__", "")
        if isinstance(metric, _CLASSIFIER_METRICS) or name in _CLASSIFIER_NAMES:
            raise ValueError(
                "Expected metrics of costs, such as DecisionAccuracy and AverageCost, for the "
                f"costs of {output.words}; received {name!r}, which would count the costliest "
                "decision as the model's."
            )


def _compiled_metrics(model: keras.Model) -> list[Any]:
    """The metrics of a model, those that are not built yet as `compile` was given them."""
    found: list[Any] = []
    for group in model.metrics:
        if getattr(group, "built", False) or not hasattr(group, "_user_metrics"):
            found += getattr(group, "metrics", [group])
        else:
            found += keras.tree.flatten([group._user_metrics, group._user_weighted_metrics])
    return found


def check_class_weight() -> None:
    """Raises if `fit` weighs cost vectors by class, which it would take from their argmax."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name in ("fit", "train_on_batch") and "class_weight" in frame.f_locals:
            if frame.f_locals["class_weight"] is not None:
                raise ValueError(
                    "Expected no `class_weight` with cost vectors as targets, whose class Keras "
                    "takes to be their costliest decision; received one. Multiply the cost "
                    "vectors by the weights, or fit on integer labels and give the loss a "
                    "`cost_matrix`."
                )
            return
        frame = frame.f_back


def _describe(model: keras.Model, place: int, number: int, frame: FrameType) -> FitOutput:
    """Describes one of the outputs of a model whose step calls from `frame`."""
    loss = _loss_of(model, place, number)
    kind, words = describe_output(model)
    if kind not in OUTPUTS and has_structure(model) and len(model.outputs) == number:
        kind, words = describe_tensor(model.outputs[place])
    structure, words = kind, f"{model.name!r}, which ends in {words}"
    ask = functools.partial(_ask, model, number, frame)
    if kind == "unknown" and (rows := ask()) is not None:
        kind = "distribution" if probability_rows(rows).all() else "other"
    trained = loss_kind(loss)
    if trained == "probability" and (kind == "other" or (kind == "unknown" and of_logits(loss))):
        kind, words = "score", f"{words} and is trained by {loss_name(loss)}"
    if trained == "cost" and kind == "other":
        kind = "cost"
    return FitOutput(kind, structure, words, ask)


def _ask(model: keras.Model, number: int, frame: FrameType | None) -> np.ndarray | None:
    """Asks a model of one output once, since what kind of output it has does not change."""
    if number > 1 or _REFUSED.get(model, 0) > 2:
        return None
    if model not in _ASKED:
        inputs = inputs_of(model) if has_structure(model) else None
        while inputs is None and frame is not None:
            if frame.f_locals.get("self") is model:  # `compute_loss` itself deletes its `x`.
                inputs = frame.f_locals.get("x")
            frame = frame.f_back
        rows = None if inputs is None else outputs_at_random(model, inputs)
        if rows is None:  # It can answer later where its variables have no values yet.
            _REFUSED[model] = _REFUSED.get(model, 0) + 1
            return None
        _ASKED[model] = rows
    return _ASKED[model]


def _loss_of(model: keras.Model, place: int, number: int) -> Any:
    """The loss that one of several outputs was compiled with, if that can be told."""
    losses = model.loss
    if not isinstance(losses, (dict, list, tuple)):
        return losses if number == 1 else None
    if isinstance(losses, dict):
        output = getattr(model, "output", None) if has_structure(model) else None
        names = sorted(output) if isinstance(output, dict) else getattr(model, "output_names", [])
        return losses.get(names[place]) if len(names) == number else None
    return losses[place] if len(losses) == number else None
