"""The check of features that arrive at a scikit-learn estimator."""

from typing import Any

import numpy as np


def check_features(features: Any, width: int | None = None) -> np.ndarray:
    """`features` as a finite float32 (where it was) or float64 array of two dimensions.

    Args:
        features: array-like of real numbers, `(N, features)`, N at least 1.
        width: the expected number of columns; `None` accepts any of at least 1.

    Raises:
        ValueError: if the array is anything else.
    """
    try:
        array = np.asarray(features)
    except ValueError as error:
        raise ValueError(
            "Expected `X` of shape (N, features); received rows of different lengths."
        ) from error
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
    array = array.astype(np.float32 if array.dtype == np.float32 else np.float64, copy=False)
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        row, column = (int(i) for i in wrong[0])
        raise ValueError(
            "Expected every entry of `X` to be finite; "
            f"received {array[row, column]} at {(row, column)}."
        )
    return array
