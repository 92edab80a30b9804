"""Validates array arguments."""

from typing import Any

import numpy as np

from csdl_keras._utils.types import ArrayLike
from csdl_keras_cli.choices import LARGEST_NUMBER


def shown(value: Any) -> str:
    """Formats a received value for a message: an array by its type and shape."""
    if isinstance(value, tuple) and any(hasattr(one, "shape") for one in value):
        return f"({', '.join(map(shown, value))})"
    shape = getattr(value, "shape", None)
    return repr(value) if shape is None else f"{type(value).__name__} of shape {tuple(shape)}"


def call_of(owner: object, **arguments: Any) -> str:
    """Returns a one-line `repr` of an object, with its arguments that are not `None`."""
    texts = []
    for name, value in arguments.items():
        small = isinstance(value, np.ndarray) and value.size <= 16
        if value is not None:
            texts.append(f"{name}={value.tolist() if small else shown(value)}")
    return f"{type(owner).__name__}({', '.join(texts)})"


def as_array(name: str, values: ArrayLike, shape: str) -> np.ndarray:
    """Converts `values` to an array of any dtype; names in data frames and series are ignored."""
    if hasattr(values, "toarray"):
        raise ValueError(f"`{name}` is a sparse {shown(values)}. Pass `{name}.toarray()`.")
    if np.ma.is_masked(values):
        raise ValueError(f"`{name}` has masked entries. Remove them.")
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, RuntimeError) as error:  # GPU tensors raise RuntimeError.
        raise ValueError(f"`{name}` is not an array of shape {shape}: {error}") from error
    if array.dtype.name == "bfloat16":  # NumPy does not count it as a real type.
        return array.astype(np.float32)
    if array.dtype == object and array.ndim == 2 and hasattr(values, "items"):
        # Nullable columns of a data frame become numbers only if converted one by one.
        columns = [np.asarray(column) for _, column in values.items()]
        if all(column.dtype.kind in "iuf" for column in columns):
            return np.column_stack(columns)
    return array


def check_entries(
    name: str, array: np.ndarray, right: np.ndarray, what: str, hint: str = ""
) -> None:
    """Raises unless every entry is `right`; `what` describes right entries in the message."""
    if not right.all():
        index = tuple(int(i) for i in np.argwhere(~right)[0])
        raise ValueError(
            f"Expected every entry of `{name}` to be {what}; "
            f"received {array[index]} at {index}.{hint}"
        )


def number_array(
    name: str, values: ArrayLike, shape: str, booleans: bool = False, hint: str = ""
) -> np.ndarray:
    """Returns `values` as an array of real numbers; `booleans=True` accepts booleans as well."""
    array = as_array(name, values, shape)
    if array.dtype.kind not in ("biuf" if booleans else "iuf"):
        received = f"dtype {array.dtype}" if array.ndim else shown(array.item())
        raise ValueError(f"Expected `{name}` to be real numbers; received {received}.{hint}")
    return array


def real_array(
    name: str,
    values: ArrayLike,
    ndim: int,
    shape: str,
    columns: int | None = None,
    missing: bool = False,
    low: float = -np.inf,
) -> np.ndarray:
    """Returns a float64 array of `ndim` axes, finite and at least `low`; `missing` accepts NaN."""
    array = number_array(name, values, shape)
    wrong = array.ndim != ndim or 0 in array.shape
    if wrong or columns not in (None, array.shape[-1]):
        raise ValueError(f"Expected `{name}` of shape {shape}; received shape {array.shape}.")
    array = array.astype(np.float64)
    right = (np.isfinite(array) & (array >= low)) | (missing & np.isnan(array))
    least = "" if low == -np.inf else f" and at least {low:g}"
    check_entries(name, array, right, f"finite{least}{' or NaN' if missing else ''}")
    return array


def check_sample_weight(values: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    """Returns `sample_weight` if it has `shape`, no weight is negative, and some are above 0."""
    weights = real_array("sample_weight", values, len(shape), str(shape), low=0.0)
    if weights.shape != shape:
        raise ValueError(f"Expected `sample_weight` of shape {shape}; received {weights.shape}.")
    if not weights.any():
        raise ValueError("`sample_weight` is 0 for every example. Pass one above 0.")
    return weights


def input_array(name: str, values: ArrayLike, booleans: bool = False, hint: str = "") -> np.ndarray:
    """Returns the inputs of a network as an array of real numbers `(N, ...)`; N may be 0."""
    array = number_array(name, values, "(N, ...)", booleans, hint)
    if array.ndim < 2 or 0 in array.shape[1:]:
        raise ValueError(f"Expected `{name}` of shape (N, ...); received shape {array.shape}.")
    return array


def check_example_shape(what: str, array: np.ndarray, shape: tuple, like: str) -> None:
    """Raises unless `array` contains inputs of `shape`; messages call them `what`."""
    if array.shape[1:] != shape:
        expected = ", ".join(map(str, ("N", *shape)))
        raise ValueError(
            f"Expected {what} of shape ({expected}), {like}; received shape {array.shape}."
        )


def check_size(name: str, array: np.ndarray) -> None:
    """Raises if a number exceeds `LARGEST_NUMBER` in absolute value; accepts NaN."""
    right = np.isnan(array) | (np.abs(array) <= LARGEST_NUMBER)
    check_entries(name, array, right, f"at most {LARGEST_NUMBER:g} in absolute value")


def check_rows(name: str, array: np.ndarray, number: int, counted: str = "labels") -> None:
    """Raises unless `array` has a row, or an entry, for each of `number` items."""
    if len(array) != number:
        one = "an entry" if array.ndim == 1 else "a row"
        raise ValueError(
            f"Expected `{name}` with {one} for each of {number} {counted}; "
            f"received shape {array.shape}."
        )


def check_range(what: str, array: np.ndarray, low: float, high: float, hint: str = "") -> None:
    """Raises unless all numbers lie in `[low, high]`; NaN raises, too."""
    least, most = float(array.min()), float(array.max())
    if not (low <= least and most <= high):
        raise ValueError(
            f"Expected {what} to lie in [{low:g}, {high:g}]; received values from "
            f"{least:.6g} to {most:.6g}.{hint}"
        )
