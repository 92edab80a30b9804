"""Checks of what losses and metrics are given, arrays or tensors.

Arrays are looked into. Tensors may belong to a graph, which cannot raise: of them the
static shape is checked, and what is wrong with their values makes the result NaN.
"""

import math
from typing import Any

import keras
import numpy as np
from keras import ops

from csdl_keras._array_checks import as_array, check_entries
from csdl_keras._ops import at_least_float32
from csdl_keras.costs import check_labels
from csdl_keras.costs._amounts import LARGEST


def _is_tensor(values: Any) -> bool:
    return ops.is_tensor(values) or isinstance(values, (keras.KerasTensor, keras.Variable))


def tensor_or_array(name: str, values: Any) -> Any:
    """Tensors as they are; what else holds numbers as an array that every backend takes.

    Raises:
        ValueError: unless an array, list or data frame holds real numbers, at least
            one, and none too large for float32 but infinity.
    """
    if _is_tensor(values):
        return values
    array = as_array(name, values, "(batch, ...)")
    if array.dtype.kind not in "iuf":
        raise ValueError(f"Expected `{name}` to hold real numbers; received dtype {array.dtype}.")
    if array.size == 0:
        raise ValueError(f"Expected `{name}` of one example or more; received {array.shape}.")
    wide = array.dtype.kind == "f" and array.dtype.itemsize >= 8
    array = array if wide else array.astype(np.float32)
    held = (np.abs(array) <= LARGEST) | ~np.isfinite(array)
    check_entries(name, array, held, f"of a size up to {LARGEST:g}, infinite or NaN")
    # In the order of rows and of bytes that every backend takes.
    return np.asarray(array, np.float64 if wide else np.float32, order="C")


def tensor_or_labels(labels: Any, num_classes: int) -> Any:
    """Tensors as they are; what else holds labels as checked int32 `(batch,)`.

    Args:
        labels: whole numbers of any dtype, `(batch,)` or `(batch, 1)`.
        num_classes: `K`.

    Raises:
        ValueError: if an array, list or data frame holds anything but classes.
    """
    if _is_tensor(labels):
        return labels
    array = as_array("labels", labels, "(batch,)")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):  # of floats that are longer
            values = array.astype(np.float64)
        if np.all((values == np.floor(values)) & (np.abs(values) < 2**31)):
            array = values.astype(np.int64)
    return check_labels(array, num_classes).astype(np.int32)


def same_shape(
    shape: str, hint: str = "", least: int = 2, most: float = math.inf, **values: Any
) -> list[Any]:
    """Arrays or tensors of one shape as tensors of one float type, of at least 32 bits.

    Args:
        shape: the shape in words.
        hint: what may help where shapes differ.
        least: lowest number of dimensions.
        most: highest number of dimensions.
        **values: the arrays or tensors by name.

    Raises:
        ValueError: if static shapes differ, sizes apart that are not known, or an
            array fails its check.
    """
    tensors = [tensor_or_array(name, value) for name, value in values.items()]
    shapes = [tuple(tensor.shape) for tensor in tensors]
    same = all(alike(shapes[0], other) for other in shapes)
    if not same or not least <= len(shapes[0]) <= most:
        raise ValueError(
            f"Expected {' and '.join(values)} of one shape {shape}; received "
            f"{' and '.join(map(str, shapes))}. {hint}".rstrip()
        )
    return at_least_float32(*tensors)


def check_weights(sample_weight: Any, outputs: Any) -> Any:
    """`None`, or a tensor or array with a weight for each row of `outputs`.

    Raises:
        ValueError: if its shape is not `(batch,)` or `(batch, 1)`, or it is no array of
            numbers.
    """
    if sample_weight is None:
        return None
    weights, batch = tensor_or_array("sample_weight", sample_weight), tuple(outputs.shape)[:1]
    if not any(alike(tuple(weights.shape), shape) for shape in (batch, (*batch, 1))):
        raise ValueError(
            f"Expected `sample_weight` of shape {batch}; received {tuple(weights.shape)}."
        )
    return weights


def alike(first: tuple, second: tuple) -> bool:
    """Whether static shapes are the same, apart from sizes that are not known."""
    return len(first) == len(second) and all(
        None in sizes or sizes[0] == sizes[1] for sizes in zip(first, second, strict=True)
    )
