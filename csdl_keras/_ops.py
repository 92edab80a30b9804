"""Small tensor functions that losses, layers and metrics share."""

from typing import Any

import keras
import numpy as np
from keras import ops

LOW_PRECISION = ("float16", "bfloat16")

# A number of Python takes the type of the tensor beside it.
_NAN = float("nan")

# Types in which the number of classes may not fit, or with which backends do not reckon.
_WIDE = dict.fromkeys(("bool", "int8", "uint8", "int16", "uint16"), "int32")
_WIDE |= dict.fromkeys(("uint32", "uint64"), "int64") | dict.fromkeys(LOW_PRECISION, "float32")

# Stands for the logarithm of 0, without the NaN of infinity times 0: its exponential is 0 in
# every float type, and float16 holds it.
LOG_ZERO = -3e4


def at_least_float32(*tensors: Any) -> Any:
    """The tensors as floats of one type, of no less than 32 bits, in which sums of costs
    neither overflow nor round; a single one alone, several as a list."""
    converted = [ops.convert_to_tensor(tensor) for tensor in tensors]
    dtypes = [keras.backend.standardize_dtype(tensor.dtype) for tensor in converted]
    dtype = "float64" if "float64" in dtypes else "float32"
    for place, found in enumerate(dtypes):
        if found != dtype:
            converted[place] = ops.cast(converted[place], dtype)
    return converted[0] if len(converted) == 1 else converted


def head_dtype(dtype: Any) -> Any:
    """The dtype of a layer that outputs probabilities or costs.

    `dtype` itself when given; otherwise `"float32"` where the global policy computes in 16 bits.
    """
    if dtype is not None:
        return dtype
    policy = keras.config.dtype_policy()
    return "float32" if policy.compute_dtype in LOW_PRECISION else policy


def float_dtype() -> str:
    """Keras' default float type, or `"float32"` where that has 16 bits."""
    floatx = keras.config.floatx()
    return "float32" if floatx in LOW_PRECISION else floatx


def has_structure(model: Any) -> bool:
    """Whether a model is functional or sequential, with inputs that are known."""
    # Subclassed models lack the attribute, unbuilt sequential ones raise AttributeError.
    return isinstance(model, keras.Model) and bool(getattr(model, "inputs", None))


def inputs_of(model: keras.Model) -> Any:
    """A model's symbolic input, or the list or dict of them that `keras.Model` was given.

    Raises:
        ValueError: if it is no model, or is subclassed or not built.
    """
    if not isinstance(model, keras.Model):
        raise ValueError(f"Expected a keras.Model; received {type(model).__name__}.")
    if not has_structure(model):
        raise ValueError(
            f"Expected a keras.Model whose inputs are known; received {model.name!r}, which is "
            "subclassed or not built. Wrap it: keras.Model(inputs, model(inputs))."
        )
    if isinstance(model, keras.Sequential):
        return model.inputs[0]  # `input` has no answer before the first call
    return model.input


def output_of(model: keras.Model) -> Any:
    """The symbolic output of a model that has one.

    Raises:
        ValueError: if it has several, or is subclassed or not built.
    """
    inputs_of(model)
    if len(model.outputs) != 1:
        raise ValueError(f"Expected a model with one output; received {len(model.outputs)}.")
    return model.outputs[0]


def rows_output_of(model: keras.Model) -> Any:
    """The symbolic output of a model that has one of shape `(batch, D)`.

    Raises:
        ValueError: as `output_of`, or if the output has another shape.
    """
    output = output_of(model)
    if len(output.shape) != 2:
        raise ValueError(f"Expected an output of shape (batch, D); received {tuple(output.shape)}.")
    return output


def class_index(labels: Any, num_classes: int) -> tuple[Any, Any]:
    """Labels as an index of classes, any for those outside `[0, num_classes)`; and which are not.

    Args:
        labels: whole numbers of any dtype, `(batch,)` or `(batch, 1)`.
        num_classes: `K`.

    Returns:
        Integer and bool tensors `(batch,)`.
    """
    if len(labels.shape) == 2 and labels.shape[1] == 1:
        labels = ops.squeeze(labels, axis=1)
    if len(labels.shape) != 1:
        raise ValueError(
            "Expected integer labels of shape (batch,) or (batch, 1), since `cost_matrix` is "
            f"given; received shape {tuple(labels.shape)}. For cost vectors leave it None."
        )
    dtype = keras.backend.standardize_dtype(labels.dtype)
    if dtype in _WIDE:
        labels, dtype = ops.cast(labels, _WIDE[dtype]), _WIDE[dtype]
    # Few operations, and Python's, since PyTorch runs them one by one.
    if "float" not in dtype:
        index = labels % num_classes
        return index, index == labels
    index = ops.cast(labels, "int32") % num_classes
    return index, ops.cast(index, dtype) == labels


def rows_of(rows: Any, labels: Any) -> Any:
    """Row `labels[n]` of `rows` for each n; the last row for a label that has none.

    Args:
        rows: tensor `(K + 1, D)`.
        labels: as in `class_index`.

    Returns:
        Tensor `(batch, D)`.
    """
    classes = rows.shape[0] - 1
    index, known = class_index(labels, classes)
    return ops.take(rows, ops.where(known, index, classes), axis=0)


def two_columns(probabilities: Any) -> Any:
    """`(batch, 1)` of P(y=1) as the two columns `[1 - p, p]`; wider tensors as they are."""
    if probabilities.shape[-1] != 1:
        return probabilities
    return ops.concatenate([1.0 - probabilities, probabilities], axis=-1)


def distributions(probabilities: Any, tolerance: float = 1e-2) -> Any:
    """`(batch, K)` rows that sum to 1; rows that do not, or hold a negative number, become NaN.

    Args:
        probabilities: `(batch, K)`, or `(batch, 1)` of P(y=1).
        tolerance: how far from 1 a row may sum; softmax rounded to bfloat16 stays within .01.
    """
    probabilities = two_columns(probabilities)
    total = ops.sum(probabilities, axis=-1, keepdims=True)
    proper = ops.logical_and(
        ops.abs(total - 1.0) <= tolerance,
        ops.min(probabilities, axis=-1, keepdims=True) >= 0.0,
    )
    return ops.where(proper, probabilities, ops.cast(np.nan, probabilities.dtype))


def finite(costs: Any) -> Any:
    """Costs, NaN where they are infinite."""
    return ops.where(ops.isfinite(costs), costs, _NAN)


def first_minimum(values: Any) -> Any:
    """Index of each row's smallest value, the lowest index among equals; -1 if a row has NaN.

    Same as argmin, in operations that every backend and export format has.

    Args:
        values: float tensor `(batch, D)`.

    Returns:
        int32 tensor `(batch,)`.
    """
    width = values.shape[-1]
    index = ops.arange(width, dtype="float32")
    smallest = ops.min(values, axis=-1, keepdims=True)
    first = ops.min(ops.where(values <= smallest, index, float(width)), axis=-1)
    nan = ops.any(ops.isnan(values), axis=-1)
    return ops.cast(ops.where(nan, -1.0, first), "int32")
