"""Checks of arguments that are arrays, or name what is in them."""

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np


def as_array(name: str, values: Any, shape: str) -> np.ndarray:
    """`values` as an array of any dtype; data frames and series by position."""
    if np.ma.is_masked(values):
        raise ValueError(f"Expected `{name}` without masked entries; received {values!r}.")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(
            f"Expected `{name}` of shape {shape}; received rows of different lengths."
        ) from error
    except (TypeError, RuntimeError) as error:  # such as tensors that NumPy cannot read
        raise ValueError(
            f"Expected `{name}` of shape {shape}; received {type(values).__name__}, of which "
            f"NumPy makes no array: {error}"
        ) from error
    if array.dtype.name == "bfloat16":  # which NumPy does not count among its real numbers
        return array.astype(np.float32)
    if array.dtype == object and array.ndim == 2 and hasattr(values, "items"):
        # The nullable columns of a data frame are arrays of numbers only one by one.
        columns = [np.asarray(column) for _, column in values.items()]
        if all(column.dtype.kind in "iuf" for column in columns):
            return np.column_stack(columns)
    return array


def check_entries(
    name: str, array: np.ndarray, right: np.ndarray, what: str, hint: str = ""
) -> None:
    """Raises unless every entry is `right`; `what` says what that is."""
    wrong = np.argwhere(~right)
    if len(wrong):
        index = tuple(int(i) for i in wrong[0])
        raise ValueError(
            f"Expected every entry of `{name}` to be {what}; "
            f"received {array[index]} at {index}.{hint}"
        )


def real_array(
    name: str, values: Any, ndim: int, shape: str, missing: bool = False, low: float = -np.inf
) -> np.ndarray:
    """`values` as a float64 array of `ndim` dimensions and finite entries of at least `low`.

    `missing=True` accepts NaN.
    """
    array = as_array(name, values, shape)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"Expected `{name}` to hold real numbers; received dtype {array.dtype}.")
    if array.ndim != ndim or 0 in array.shape:
        raise ValueError(f"Expected `{name}` of shape {shape}; received shape {array.shape}.")
    array = array.astype(np.float64)
    right = np.isfinite(array) & (array >= low)
    if missing:
        right |= np.isnan(array)
    least = "" if low == -np.inf else f" and at least {low:g}"
    check_entries(name, array, right, f"finite{least}{' or NaN' if missing else ''}")
    return array


def check_decisions(decisions: Any, num_examples: int, num_decisions: int) -> np.ndarray:
    """`decisions` as int64, if it is an integer below `num_decisions` for each example."""
    array = as_array("decisions", decisions, f"({num_examples},)")
    if array.shape != (num_examples,) or array.dtype.kind not in "iu":
        raise ValueError(
            f"Expected `decisions` of shape ({num_examples},), an integer for each label; "
            f"received shape {array.shape} and dtype {array.dtype}."
        )
    wrong = array[(array < 0) | (array >= num_decisions)]
    if len(wrong):
        raise ValueError(
            f"Expected `decisions` of at least 0 and below {num_decisions}, the number of columns "
            f"of `cost_matrix`; received {wrong[0]}."
        )
    return array.astype(np.int64)


def check_rows(name: str, array: np.ndarray, num_examples: int) -> None:
    """Raises unless the array has a row for each label."""
    if len(array) != num_examples:
        raise ValueError(
            f"Expected `{name}` with a row for each of {num_examples} labels; "
            f"received shape {array.shape}."
        )


def check_names(name: str, names: Iterable[Any], number: int) -> list[str]:
    """`names` as a list of `number` strings."""
    # A string is a sequence of strings, and never what is meant.
    if isinstance(names, str) or not np.iterable(names):
        raise ValueError(f"Expected `{name}` to be {number} names; received {names!r}.")
    # Of names without end no more are taken than it takes to tell.
    listed = [str(one) for one in itertools.islice(names, number + 1)]
    if len(listed) != number:
        received = len(listed) if len(listed) < number else "more"
        raise ValueError(f"Expected `{name}` to be {number} names; received {received}.")
    return listed


def check_label(label: str | None) -> str | None:
    """Returns `label` if it is a string or `None`."""
    if label is not None and not isinstance(label, str):
        raise ValueError(f"Expected `label` to be a string or None; received {label!r}.")
    return label


def variance_beyond_rounding(x: np.ndarray) -> float:
    """The variance of all floats of an array, 0 if they differ by what their type rounds only."""
    variance = float(x.var(dtype=np.float64))
    rounded = 4 * float(np.finfo(x.dtype).eps) * float(np.abs(x).max())
    return variance if variance > rounded**2 else 0.0


# Networks compute in float32, in which larger ones are infinite; and no sum of costs overflows.
LARGEST_NUMBER = 1e38
