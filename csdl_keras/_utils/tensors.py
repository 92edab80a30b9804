"""Tensor functions and checks that losses, layers and metrics share."""

import re
from typing import Any

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.arrays import check_size, number_array
from csdl_keras._utils.types import DTypeLike, Tensor

LOW_PRECISION = ("float16", "bfloat16")
#: Represents the logarithm of 0, since -inf times 0 would be NaN. It fits into float16.
LOG_ZERO = -3e4


def default_name(owner: object) -> str:
    """Returns the name of an object's class in snake case; Keras' own default is numbered."""
    parts = r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
    return re.sub(parts, "_", type(owner).__name__).lower()


def at_least_float32(*tensors: Tensor) -> Any:
    """Returns tensors as floats of one type of at least 32 bits: a list, or the only one."""
    converted = [ops.convert_to_tensor(tensor) for tensor in tensors]
    wide = any(keras.backend.standardize_dtype(it.dtype) == "float64" for it in converted)
    converted = [ops.cast(tensor, "float64" if wide else "float32") for tensor in converted]
    return converted[0] if len(converted) == 1 else converted


def head_dtype(dtype: DTypeLike | None) -> DTypeLike:
    """Returns the dtype of a layer of probabilities or costs, by default at least 32 bits."""
    policy = keras.config.dtype_policy()
    if dtype is not None:
        return dtype
    return "float32" if policy.compute_dtype in LOW_PRECISION else policy


def float_dtype() -> str:
    """Returns Keras' default float type, or `"float32"` where that has 16 bits."""
    floatx = keras.config.floatx()
    return "float32" if floatx in LOW_PRECISION else floatx


def check_numbered(what: str, number: int, dtype: str) -> None:
    """Raises a `ValueError` if a dtype cannot represent all integers below `number`."""
    whole = {"bfloat16": 2**8, "float16": 2**11, "float32": 2**24, "float64": 2**53}
    most = whole.get(dtype, number)
    if number > most:
        raise ValueError(
            f"{dtype} represents integers up to {most}, too few for {number} {what}. "
            "Pass integers and keep keras.config.floatx() at 'float32'."
        )


def is_tensor(values: Tensor) -> bool:
    """Returns True for a tensor of the backend, a symbolic tensor or a variable."""
    return ops.is_tensor(values) or isinstance(values, (keras.KerasTensor, keras.Variable))


def tensor_or_array(name: str, values: Tensor) -> Tensor:
    """Returns a tensor unchanged, and other values as an array of floats for any backend."""
    if is_tensor(values):
        return values
    array = number_array(name, values, "(batch, ...)")
    if array.size == 0:
        raise ValueError(f"`{name}` has no examples: its shape is {array.shape}.")
    wide = array.dtype.kind == "f" and array.dtype.itemsize >= 8
    array = np.asarray(array, np.float64 if wide else np.float32, order="C")
    check_size(name, np.where(np.isinf(array), 0, array))
    return array


def known_values(tensor: Tensor) -> np.ndarray | None:
    """Returns the values of an array or tensor, or `None` inside a graph, which has none yet."""
    if keras.backend.backend() == "torch":
        import torch

        # `torch.compile` is tracing a graph, or only shapes are computed.
        if torch.compiler.is_compiling() or str(getattr(tensor, "device", "")) == "meta":
            return None
    try:
        return np.asarray(ops.convert_to_numpy(tensor))
    except Exception:  # Each backend raises its own error for symbolic tensors.
        return None


def alike(first: tuple, second: tuple) -> bool:
    """Returns True if static shapes are equal, apart from unknown sizes."""
    return len(first) == len(second) and all(
        None in sizes or sizes[0] == sizes[1] for sizes in zip(first, second, strict=True)
    )


def same_shape(shape: str, hint: str = "", **values: Tensor) -> list[Tensor]:
    """Returns arrays or tensors of one shape as tensors of one type of at least 32 bits."""
    tensors = [tensor_or_array(name, value) for name, value in values.items()]
    shapes = [tuple(tensor.shape) for tensor in tensors]
    if not all(alike(shapes[0], other) for other in shapes) or not shapes[0]:
        raise ValueError(
            f"Expected {' and '.join(values)} of one shape {shape}; received "
            f"{' and '.join(map(str, shapes))}. {hint}".rstrip()
        )
    return at_least_float32(*tensors)


def examples_shape(name: str, outputs: Tensor) -> tuple[int | None, ...]:
    """Returns the static shape `(batch, ...)` of outputs `(batch, ..., D)`."""
    shape = tuple(outputs.shape)
    if len(shape) < 2:
        raise ValueError(
            f"Expected `{name}` of shape (batch, D) or (batch, ..., D); received {shape}."
        )
    return shape[:-1]


def check_weights(sample_weight: Tensor, outputs: Tensor, axes: int) -> Any:
    """Returns a weight for each value along the first `axes` of outputs; `None` for `None`."""
    if sample_weight is None:
        return None
    weights = tensor_or_array("sample_weight", sample_weight)
    given, shape = tuple(weights.shape), tuple(outputs.shape)[:axes]
    if alike(given, (*shape, 1)):
        return ops.squeeze(weights, -1)
    if axes > 1 and given[1:] in ((), (1,)) and alike(given[:1], shape[:1]):
        # Keras would align the examples with the last axis of the values.
        weights = ops.reshape(weights, (-1,) + (1,) * (axes - 1))
        return ops.broadcast_to(weights, ops.shape(outputs)[:axes])
    if alike(given, shape):
        return weights
    each = "" if axes == 1 else f" or {shape}"
    raise ValueError(f"Expected `sample_weight` of shape {shape[:1]}{each}; received {given}.")


def first_minimum(values: Tensor) -> Tensor:
    """Returns the first index `(...)`, int32, of each row's smallest value; -1 for NaN."""
    # Not every export format supports argmin.
    width = values.shape[-1]
    index = ops.arange(width, dtype="float32")
    smallest = ops.min(values, axis=-1, keepdims=True)
    first = ops.min(ops.where(values <= smallest, index, float(width)), axis=-1)
    return ops.cast(ops.where(ops.any(ops.isnan(values), axis=-1), -1.0, first), "int32")
