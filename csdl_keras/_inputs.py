"""Whether arrays suit a model, said before Keras or a backend says it in its own way."""

from typing import Any

import keras
import numpy as np

from csdl_keras._array_checks import as_array
from csdl_keras._ops import has_structure


def check_inputs(model: Any, x: Any) -> Any:
    """Arrays, data frames and nested lists as an array that the model takes.

    What else Keras takes (data sets, generators, tensors, several inputs) stays as it is.
    """
    if not isinstance(model, keras.Model):
        if not hasattr(model, "predict_costs"):
            raise ValueError(
                f"Expected `model` to be a keras.Model or a CSOSR; received {model!r}."
            )
        return _numbers(x)
    if not _is_plain(x):
        return x
    if not has_structure(model):
        return _numbers(x)
    if len(model.inputs) > 1 or model.inputs[0].dtype == "string":
        return x
    array, expected = _numbers(x), (None, *model.inputs[0].shape[1:])
    # Keras adds a last axis of one element, or drops it, but not in TensorFlow's graphs.
    alike = [array.shape, (*array.shape, 1)]
    if array.shape[-1] == 1:
        alike.append(array.shape[:-1])
    for shape in alike:
        if _fits(shape, expected):
            return array.reshape(shape)
    raise ValueError(
        f"Expected `x` of shape (N, {str(expected[1:])[1:]}; received shape {array.shape}."
    )


def _is_plain(x: Any) -> bool:
    """Whether `x` can only be the array of a single input, or nothing that Keras takes."""
    if isinstance(x, (str, bytes, np.ndarray)) or hasattr(x, "to_numpy") or not np.iterable(x):
        return True
    parts = x.values() if isinstance(x, dict) else x
    nested = isinstance(x, (list, tuple, dict, set, range))
    return nested and not any(hasattr(part, "shape") for part in parts)


def _numbers(x: Any) -> np.ndarray:
    array = as_array("x", x, "(N, ...)")
    if array.dtype.kind not in "biuf":
        raise ValueError(f"Expected `x` to hold real numbers; received dtype {array.dtype}.")
    if array.ndim == 0 or 0 in array.shape:
        raise ValueError(f"Expected `x` of at least one example; received shape {array.shape}.")
    # Keras knows no longer floats.
    return array.astype(np.float64) if array.dtype == np.longdouble else array


def _fits(shape: tuple[int, ...], expected: tuple[int | None, ...]) -> bool:
    return len(shape) == len(expected) and all(
        wanted in (None, size) for size, wanted in zip(shape, expected, strict=True)
    )
