"""Puts the rows and columns of named arrays into the order of the classes."""

import itertools
from typing import Any

import numpy as np

from csdl_keras._utils.arrays import as_array
from csdl_keras._utils.labels import class_labels, value_key
from csdl_keras_cli.columns import is_frame


def by_class(
    name: str, values: Any, shape: str, classes: Any = None, of_examples: bool | None = False
) -> np.ndarray:
    """Returns an array; the rows and columns of a data frame or series follow the classes."""
    array = as_array(name, values, shape)
    axes = _axes(values)
    if not axes:
        return array
    if of_examples is None:  # Rows are examples unless they are named like columns.
        of_examples = array.ndim == 2 and not set(axes[0].keys) <= set(axes[1].keys)
    axes = axes[1:] if of_examples else axes
    if all(axis.numbered for axis in axes):
        return array
    what = ("rows", "columns")[-len(axes) :] if array.ndim == 2 else ("index",)
    received = " and ".join(
        f"the {one} {_words(axis.keys)}" for one, axis in zip(what, axes, strict=True)
    )
    labels = class_labels(classes)
    if labels is None:
        if _sorted_alike(axes, len(array)):
            return array
        raise ValueError(
            f"`{name}` has {received}, which may not be the order of the classes. Pass `classes=` "
            "to functions that accept it, bring them into the order of sorted labels, or pass "
            f"`{name}.to_numpy()` if they are in the order of the classes."
        )
    wanted = [value_key(label) for label in labels.tolist()]
    places = [axis.places(wanted) for axis in axes]
    # The order of the rows does not follow from names of columns alone.
    moved = any(found is not None and found != sorted(found) for found in places)
    other = any(p is None and not axis.numbered for p, axis in zip(places, axes, strict=True))
    if other or (moved and None in places):
        raise ValueError(
            f"`{name}` has {received}; the classes are {_words(wanted)}. Name all of them after "
            f"the classes, or pass `{name}.to_numpy()` if they are in the order of the classes."
        )
    for axis, found in zip(range(array.ndim)[-len(places) :], places, strict=True):
        if found is not None:
            array = np.take(array, found, axis)
    return array


def names_of_frame(values: Any) -> tuple[list[Any] | None, list[Any] | None]:
    """Returns the names of a data frame's rows and of its columns; `None` for those without."""
    axes = _axes(values)
    if all(axis.numbered for axis in axes):
        return None, None
    rows, columns = (list(axis.names) if axis.keys else None for axis in axes)
    return rows, columns


def _axes(values: Any) -> list["_Axis"]:
    """Returns the rows and columns of a data frame, the rows of a series, or nothing."""
    if hasattr(values, "iloc") and values.ndim == 1:
        return [_Axis(values.index)]
    columns = values.columns if is_frame(values) else getattr(values, "column_names", None)
    return [] if columns is None else [_Axis(getattr(values, "index", None)), _Axis(columns)]


class _Axis:
    """The names of rows or columns; `numbered` if there are none, or a library numbered them."""

    def __init__(self, names: Any):
        self.names = names
        self.keys = [] if names is None else [value_key(name) for name in names]
        counted = list(range(len(self.keys)))
        of_pandas = type(names).__name__ == "RangeIndex" and self.keys == counted
        # Polars names columns of arrays "column_0" and so on.
        self.numbered = of_pandas or self.keys == [f"column_{i}" for i in counted]

    def places(self, wanted: list[Any]) -> list[int] | None:
        """Returns the places of the classes, then of other names; `None` if classes are missing."""
        if not set(wanted) <= set(self.keys) or len(set(self.keys)) < len(self.keys):
            return None
        others = [place for place, key in enumerate(self.keys) if key not in wanted]
        return [self.keys.index(key) for key in wanted] + others


def _words(keys: list[Any]) -> str:
    shown = [key[1] if isinstance(key, tuple) else key for key in keys[:12]]
    return f"{shown}{f' and {len(keys) - 12} more' if len(keys) > 12 else ''}"


def _sorted_alike(axes: list[_Axis], num_classes: int) -> bool:
    """Returns True if rows and columns have the same names, in ascending order."""
    size = num_classes if len(axes) == 2 else None
    named = [axis.keys[:size] for axis in axes if not axis.numbered]
    try:
        ascending = all(a < b for keys in named for a, b in itertools.pairwise(keys))
    except TypeError:  # Values of several types have no order.
        return False
    return ascending and named[0] == named[-1]
