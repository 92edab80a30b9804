"""Finds a model's inputs and outputs, and converts arrays to fit them."""

from collections.abc import Mapping
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.arrays import number_array, shown
from csdl_keras._utils.keras_private import all_layers
from csdl_keras._utils.tensors import alike, examples_shape
from csdl_keras_cli.columns import Columns, is_frame


def check_inputs(model: Any, x: Any) -> Any:
    """Converts arrays, frames and nested lists to an array for the model; keeps other inputs."""
    single = has_structure(model) and len(model.inputs) == 1
    if isinstance(model, keras.Model):
        x = encoded_rows(model, x)
        if isinstance(x, (list, tuple)):
            one_array = not any(hasattr(part, "shape") for part in x)
        else:  # The error of `number_array` for scalars is clearer than that of Keras.
            one_array = isinstance(x, np.ndarray) or hasattr(x, "to_numpy") or not np.iterable(x)
        known = single and model.inputs[0].dtype != "string"
        if not one_array or (has_structure(model) and not known):
            return x
    elif not hasattr(model, "predict_costs"):
        raise ValueError(
            f"Expected `model` to be a keras.Model or a CSOSR; received {shown(model)}."
            f"{estimator_hint(model)}"
        )
    array = number_array("x", x, "(N, ...)", booleans=True)
    if array.ndim == 0 or 0 in array.shape:
        raise ValueError(f"`x` has no examples: its shape is {array.shape}.")
    if not single:
        return array
    # Keras adds a last axis of one element, or drops it, but not in TensorFlow's graphs.
    shapes = [array.shape, (*array.shape, 1), array.shape[: -1 if array.shape[-1] == 1 else None]]
    expected = (None, *model.inputs[0].shape[1:])
    for shape in shapes:
        if alike(shape, expected):
            return array.reshape(shape)
    wanted = str(("N", *expected[1:])).replace("'", "")
    raise ValueError(f"Expected `x` of shape {wanted}; received shape {array.shape}.")


def encoded_rows(model: keras.Model, x: Any) -> Any:
    """Converts rows of a data frame or a dict to the model's numbers; keeps other inputs."""
    if isinstance(x, (list, tuple)) and any(map(is_frame, x)):  # one of several inputs
        return [encoded_rows(model, one) for one in x]
    if not is_frame(x) and not (isinstance(x, Mapping) and len(getattr(model, "inputs", ())) == 1):
        return x
    columns = frame_columns(model)
    return x if columns is None else columns.encode(x)


def frame_columns(model: keras.Model) -> Columns | None:
    """Returns the `Columns` of the data frame that a model was built for, or `None`."""
    found = (getattr(layer, "columns", None) for layer in all_layers(model))
    return next((columns for columns in found if isinstance(columns, Columns)), None)


def estimator_hint(model: object) -> str:
    """Returns advice if a scikit-learn classifier, or an array, was passed as the model."""
    if hasattr(model, "predict_proba"):
        return " Wrap a classifier that has `predict_proba` in csdl_keras.sklearn.BayesClassifier."
    of_data = hasattr(model, "shape") or isinstance(model, (list, tuple))
    return " The model is the first argument." if of_data else ""


def has_structure(model: Any) -> bool:
    """Returns True for a functional model, and for a sequential one with known inputs."""
    # Subclassed models lack the attribute, unbuilt sequential ones raise AttributeError.
    return isinstance(model, keras.Model) and bool(getattr(model, "inputs", None))


def inputs_of(model: keras.Model) -> Any:
    """Returns a model's symbolic input, or the list or dict of them that it was built with."""
    if not isinstance(model, keras.Model):
        raise ValueError(
            f"Expected a keras.Model; received {type(model).__name__}.{estimator_hint(model)}"
        )
    if not has_structure(model):
        raise ValueError(
            f"The keras.Model {model.name!r} is subclassed or not built, so that its inputs are "
            "unknown. Wrap it: keras.Model(inputs, model(inputs))."
        )
    # `input` of a sequential model raises before the first call.
    return model.inputs[0] if isinstance(model, keras.Sequential) else model.input


def output_of(model: keras.Model) -> Any:
    """Returns the symbolic output `(batch, ..., D)` of a model that has one."""
    inputs_of(model)
    if len(model.outputs) != 1:
        raise ValueError(f"{model.name!r} has {len(model.outputs)} outputs. Pass a model with one.")
    examples_shape("output", model.outputs[0])
    return model.outputs[0]
