"""The check of features that arrive at a kernel machine."""

from typing import Any

import numpy as np

from csdl_keras._array_checks import as_array, check_entries

#: Squares of larger numbers are infinite in float32, and so distances would be.
_LARGEST = 1e18


def check_features(features: Any, width: int | None = None) -> np.ndarray:
    """`features` as a finite float32 (where it was) or float64 array of two dimensions.

    Args:
        features: array-like of real numbers, `(N, features)`, N at least 1.
        width: the expected number of columns; `None` accepts any of at least 1.

    Raises:
        ValueError: if the array is anything else.
    """
    array = as_array("X", features, "(N, features)")
    if array.dtype.kind not in "iuf":
        raise ValueError(f"Expected `X` to hold real numbers; received dtype {array.dtype}.")
    if array.ndim != 2 or 0 in array.shape:
        hint = " Reshape it: `X.reshape(len(X), -1)`." if array.ndim > 2 else ""
        raise ValueError(
            f"Expected `X` of shape (N, features); received shape {array.shape}.{hint}"
        )
    if width is not None and array.shape[1] != width:
        raise ValueError(
            f"Expected `X` of shape (N, {width}), {width} features as in `fit`; "
            f"received shape {array.shape}."
        )
    with np.errstate(over="ignore"):  # longer floats that become infinite are refused below
        array = array.astype(np.float32 if array.dtype == np.float32 else np.float64, copy=False)
    what = f"finite and of a size up to {_LARGEST:g}"
    check_entries("X", array, np.abs(array) <= _LARGEST, what)
    return array
