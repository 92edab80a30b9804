"""Finds out what the model outputs whose `fit` or `evaluate` calls a loss, metric or layer.

Keras passes them tensors but no model, so this module searches the call stack for the model while
the step is built and traced. An output of the wrong kind then raises before the first step, on
every backend.
"""

import functools
import sys
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

import keras
import numpy as np

from csdl_keras._utils.checks import OUTPUTS
from csdl_keras._utils.kept_values import restoring_values
from csdl_keras._utils.structure import has_structure, inputs_of
from csdl_keras._utils.tensors import probability_rows
from csdl_keras._utils.types import Tensor
from csdl_keras._utils.uncompiled import uncompiled
from csdl_keras.outputs.kind import (
    check_loss,
    describe_output,
    describe_tensor,
    for_output,
    loss_kind,
    loss_name,
    loss_of,
    of_logits,
)
from csdl_keras.outputs.values import outputs_at_random

# Names of the methods of `keras.Model` that have the outputs or the model among their variables.
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

# Their names in `compile`: those of classes and functions, and abbreviations.
_CLASSIFIER_NAMES = {kind.__name__.lower() for kind in _CLASSIFIER_METRICS}
_CLASSIFIER_NAMES |= {"acc", "ce", "crossentropy", "bce"}

# Outputs of models for random inputs, and how often they could not be computed.
_RANDOM_OUTPUTS: weakref.WeakKeyDictionary[keras.Model, np.ndarray] = weakref.WeakKeyDictionary()
_FAILURES: weakref.WeakKeyDictionary[keras.Model, int] = weakref.WeakKeyDictionary()

# The outputs that `check_compiled` has passed, by what `compile` stores. PyTorch checks each step.
_CHECKED: weakref.WeakKeyDictionary[Any, set[int]] = weakref.WeakKeyDictionary()


class FitOutput(NamedTuple):
    """An output of the model that is being fitted or evaluated.

    Args:
        kind: `"cost"` or `"probability"`; `"distribution"` if only its values for random inputs,
            which sum to 1, show that it is a probability; `"score"` for a logarithm of
            probabilities and for other scores that a classifier's loss trains; `"other"` if it
            is known to be no probability; else `"unknown"`.
        structure: the kind by structure alone, see `describe_output`.
        words: the model and its last layer, as error messages name them.
        rows: function that returns the outputs for two random inputs, `(2, ..., D)`, or `None`.
    """

    kind: str
    structure: str
    words: str
    rows: Callable[[], np.ndarray | None]


@uncompiled
def fit_output(y_pred: Tensor) -> FitOutput | None:
    """Describes the model output that a loss or metric is given in `fit` or `evaluate`.

    It also checks the model's other losses and metrics, see `check_compiled`.

    Args:
        y_pred: the tensor that the loss or metric is given.

    Returns:
        The output, or `None` if no model computes `y_pred`.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name in _COMPUTE:
            values = frame.f_locals
            model, outputs = values.get("self"), keras.tree.flatten(values.get("y_pred"))
            places = [place for place, one in enumerate(outputs) if one is y_pred]
            if isinstance(model, keras.Model) and places:
                found = _describe(model, places[0], len(outputs), frame)
                check_compiled(model, found, places[0], len(outputs))
                return found
        frame = frame.f_back
    return None


@restoring_values
@uncompiled
def check_cost_layer(layer: keras.layers.Layer) -> None:
    """Raises if the last layer of a model outputs costs and the model is fitted as a classifier."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name in _STEPS:
            model = frame.f_locals.get("self")
            ends = model.outputs if isinstance(model, keras.Model) and has_structure(model) else []
            for place, end in enumerate(ends):
                if end._keras_history.operation is layer and not _is_checked(model, place):
                    output = _describe(model, place, len(ends), frame)
                    check_compiled(model, output, place, len(ends))
            return
        frame = frame.f_back


def check_compiled(model: keras.Model, output: FitOutput, place: int, number: int) -> None:
    """Raises if costs are compiled with Keras' losses or metrics for classifiers.

    Args:
        model: the model that is being fitted.
        output: one of its outputs.
        place: index of that output.
        number: number of outputs.
    """
    if output.kind != "cost" or _is_checked(model, place):
        return
    check_loss("cost", output.words, loss_of(model, place, number))
    compiled = getattr(model, "_compile_metrics", None)
    for group in ("_user_metrics", "_user_weighted_metrics"):
        given = getattr(compiled, group, None)
        for metric in keras.tree.flatten(for_output(given, model, place, number)):
            name = _classifier_metric(metric)
            if name is not None:
                raise ValueError(
                    "Expected metrics of costs, such as DecisionAccuracy and AverageCost, for the "
                    f"costs of {output.words}; received {name!r}, which would count the costliest "
                    "decision as the model's."
                )
    if hasattr(model, "_compile_config"):
        _CHECKED.setdefault(model._compile_config, set()).add(place)


def _is_checked(model: keras.Model, place: int) -> bool:
    """Returns True if `check_compiled` has passed the output with the current loss and metrics."""
    compiled = getattr(model, "_compile_config", None)
    return compiled is not None and place in _CHECKED.get(compiled, ())


def _classifier_metric(metric: object) -> str | None:
    """Returns the name of a metric if it is one of Keras' metrics for classifiers."""
    if isinstance(metric, _CLASSIFIER_METRICS):
        return metric.name
    function = getattr(metric, "_fn", metric)  # Keras wraps functions.
    name = function if isinstance(function, str) else getattr(function, "__name__", "")
    own = isinstance(function, str) or str(getattr(function, "__module__", "")).startswith("keras.")
    return name if own and name.replace("_", "").lower() in _CLASSIFIER_NAMES else None


@uncompiled
def check_class_weight() -> None:
    """Raises if `fit` weights cost vectors by class, which Keras takes to be their argmax."""
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
    """Describes an output of a model whose step has the stack frame `frame`."""
    loss = loss_of(model, place, number)
    kind, words = describe_output(model)
    if kind not in OUTPUTS and has_structure(model) and len(model.outputs) == number:
        kind, words = describe_tensor(model.outputs[place])
    structure, words = kind, f"{model.name!r}, which ends in {words}"
    rows_of = functools.partial(_rows, model, number, frame)
    if kind == "unknown" and (rows := rows_of()) is not None:
        kind = "distribution" if probability_rows(rows).all() else "other"
    trained = loss_kind(loss)
    if trained == "probability" and (kind == "other" or (kind == "unknown" and of_logits(loss))):
        kind, words = "score", f"{words} and is trained by {loss_name(loss)}"
    if trained == "cost" and kind == "other":
        kind = "cost"
    return FitOutput(kind, structure, words, rows_of)


def _rows(model: keras.Model, number: int, frame: FrameType | None) -> np.ndarray | None:
    """Returns the outputs of a model for random inputs, computed once, or `None`."""
    if number > 1 or _FAILURES.get(model, 0) > 2:
        return None
    if model not in _RANDOM_OUTPUTS:
        inputs = inputs_of(model) if has_structure(model) else None
        while inputs is None and frame is not None:
            if frame.f_locals.get("self") is model:  # Not `compute_loss`, which deletes its `x`.
                inputs = frame.f_locals.get("x")
            frame = frame.f_back
        rows = None if inputs is None else outputs_at_random(model, inputs)
        if rows is None:  # Try again later, when variables have values.
            _FAILURES[model] = _FAILURES.get(model, 0) + 1
            return None
        _RANDOM_OUTPUTS[model] = rows
    return _RANDOM_OUTPUTS[model]
