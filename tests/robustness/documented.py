"""What documentation says of arguments, in as many words."""

import numbers
from typing import Any

import numpy as np
import pandas


def array_of_numbers(x: Any) -> np.ndarray | None:
    """The array of real numbers that `x` is, if it is one."""
    try:
        array = np.asarray(x)
    except Exception:
        return None
    if np.ma.is_masked(x):
        return None
    if array.dtype.name == "bfloat16":
        return array.astype(np.float64)
    if array.dtype == object and isinstance(x, pandas.DataFrame):
        columns = [array_of_numbers(column) for _, column in x.items()]
        return None if any(column is None for column in columns) else np.column_stack(columns)
    return array if array.dtype.kind in "iuf" else None


def is_flags(x: Any) -> bool:
    try:
        return np.asarray(x).dtype == bool and not np.ma.is_masked(x)
    except ValueError:
        return False


def is_integer(x: Any, low: int, high: float = np.inf) -> bool:
    whole = isinstance(x, numbers.Integral) and not isinstance(x, bool)
    return bool(whole and low <= x <= high)


def is_number(x: Any, low: float, high: float) -> bool:
    """A finite number, above `low`."""
    real = isinstance(x, numbers.Real) and not isinstance(x, bool)
    with np.errstate(over="ignore"):  # in 16 bits the bounds may be infinite
        return bool(real and abs(x) < np.inf and low < x <= high)


def is_finite(x: Any, ndim: int) -> bool:
    array = array_of_numbers(x)
    if array is None or array.ndim != ndim or array.size == 0:
        return False
    return all(abs(float(entry)) < np.inf for entry in array.flat)


def is_amounts(x: Any, ndim: int) -> bool:
    return is_finite(x, ndim) and np.abs(np.asarray(x, "f8")).max() <= 1e38


def is_vectors(x: Any) -> bool:
    return is_amounts(x, 2) and np.asarray(x, "f8").min() >= 0


def is_matrix(x: Any, square: bool = False) -> bool:
    if not is_vectors(x):
        return False
    array = np.asarray(x, "f8")
    rows, columns = array.shape
    sizes = 2 <= rows <= columns and (rows == columns or not square)
    return sizes and all(array[y, y] == 0 for y in range(rows))


def plain_labels(x: Any) -> Any:
    """Integers of an array of objects as an array of integers."""
    listed = x.ravel().tolist() if isinstance(x, np.ndarray) and x.dtype == object else []
    whole = all(isinstance(one, int) and not isinstance(one, bool) for one in listed)
    return np.array(listed).reshape(x.shape) if listed and whole else x


def is_indices(x: Any, high: float = np.inf) -> bool:
    """Labels or decisions, also as objects."""
    array = array_of_numbers(plain_labels(x))
    if array is None or array.dtype.kind == "f" or array.ndim != 1 or array.size == 0:
        return False
    return all(0 <= int(entry) < min(high, 2**63 - 1) for entry in array)


def is_probabilities(x: Any) -> bool:
    if not is_finite(x, 2) or np.asarray(x, "f8").min() < 0:
        return False
    rows = np.asarray(x, "f8")
    if rows.shape[1] == 1:
        return rows.max() <= 1
    return all(abs(sum(map(float, row)) - 1) <= 1e-2 for row in rows)


def is_numbers(x: Any, least: int = 0, most: int = 9) -> bool:
    """What losses and metrics take: real numbers that float32 holds, infinity and NaN."""
    array = array_of_numbers(x)
    if array is None or array.size == 0 or not least <= array.ndim <= most:
        return False
    return all(not abs(entry) < np.inf or abs(entry) <= 1e38 for entry in array.ravel().tolist())


def is_targets(x: Any, num_classes: int) -> bool:
    """Labels `(N,)` or `(N, 1)`, also as whole numbers of a float type, or objects."""
    array = array_of_numbers(plain_labels(x))
    if array is None or array.size == 0 or array.shape[1:] not in ((), (1,)) or not array.ndim:
        return False
    return all(entry in range(num_classes) for entry in array.ravel().tolist())


def is_weights(x: Any, number: int) -> bool:
    return x is None or (is_numbers(x) and np.shape(x) in ((number,), (number, 1)))


def are_sizes(x: Any, *numbers: int) -> bool:
    """Sizes of layers or of an input, as many as one of `numbers` says, or any number of them."""
    if not np.iterable(x) or isinstance(x, (str, bytes, dict, set)):
        return False
    return all(is_integer(size, 1, 2**31 - 1) for size in x) and (not numbers or len(x) in numbers)


def is_inputs(x: Any) -> bool:
    array = array_of_numbers(x)
    return array is not None and array.ndim >= 2 and 0 not in array.shape[1:]


def is_float32_inputs(x: Any) -> bool:
    """Inputs of four examples, finite also as float32."""
    if not is_inputs(x) or len(x) != 4:
        return False
    with np.errstate(over="ignore"):
        return bool(np.isfinite(array_of_numbers(x).astype("f4")).all())


def is_example(x: Any) -> bool:
    """What a model of three inputs takes: `(N, 3)`, and Keras drops a last axis of one element."""
    array = np.asarray(x) if is_flags(x) else array_of_numbers(x)
    return array is not None and array.size > 0 and array.shape[1:] in ((3,), (3, 1))


def is_features(x: Any) -> bool:
    array = array_of_numbers(x)
    right = array is not None and array.ndim == 2 and array.size
    return bool(right and all(abs(entry) <= 1e18 for entry in array.ravel().tolist()))
