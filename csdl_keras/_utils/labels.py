"""Class labels of any type as the rows of a cost matrix."""

from typing import Any

import numpy as np

from csdl_keras._utils.arrays import as_array
from csdl_keras._utils.types import ArrayLike


def scalars(labels: ArrayLike) -> list[Any]:
    """Returns labels as Python objects, but dates as scalars of NumPy."""
    array = np.asarray(labels)
    # `tolist` turns some dates into integers, which could equal other labels.
    return list(array) if array.dtype.kind in "mM" else array.tolist()


def positions(name: str, labels: ArrayLike, known: np.ndarray) -> np.ndarray:
    """Returns the index of each label among known labels in any order.

    Args:
        name: name of the labels in messages.
        labels: `(N,)`.
        known: distinct labels.

    Raises:
        ValueError: if labels are not known; the message names them.

    Example:

    >>> positions("y", ["dog", "cat"], np.array(["cat", "dog"]))
    array([1, 0])
    """
    index = {label: position for position, label in enumerate(scalars(known))}
    listed = scalars(labels)
    wrong = [label for label in listed if not np.isscalar(label) or label not in index]
    if wrong:
        unseen = list(dict.fromkeys(map(repr, wrong)))
        more = f" and {len(unseen) - 5} more" if len(unseen) > 5 else ""
        raise ValueError(
            f"Expected `{name}` to be among {list(index)}; received {', '.join(unseen[:5])}{more}."
        )
    return np.array([index[label] for label in listed], dtype=np.int64)


def own_classes(name: str, labels: ArrayLike) -> np.ndarray | None:
    """Returns the classes of labels that are strings or booleans, sorted.

    Args:
        name: name of the labels in messages.
        labels: `(N,)`, also a series or a categorical.

    Returns:
        `(K,)`, the order of `numpy.unique` and so of the rows of a cost matrix; `None` for
        labels of another type, which are row numbers themselves.

    Raises:
        ValueError: if a label is missing, or they are of several types.

    Example:

    >>> own_classes("y", ["dog", "cat", "dog"])
    array(['cat', 'dog'], dtype='<U3')
    """
    if isinstance(labels, (list, tuple)) and any(isinstance(label, str) for label in labels):
        labels = np.array(labels, dtype=object)  # NumPy would make strings of numbers beside them.
    array = as_array(name, labels, "(N,)")
    if array.dtype.kind not in "bUO" or array.ndim != 1:
        return None
    listed = array.tolist()
    for place, label in enumerate(listed):
        if not isinstance(label, (str, bool)):
            _refuse(name, label, place)
    if array.dtype.kind == "b" or all(isinstance(label, bool) for label in listed):
        return np.array([False, True])
    if any(isinstance(label, bool) for label in listed):
        raise ValueError(
            f"Expected `{name}` of one type; received strings and booleans among the labels."
        )
    return np.array(sorted(set(listed)))


def _refuse(name: str, label: object, place: int) -> None:
    missing = label is None or type(label).__name__ in ("NAType", "NaTType") or label != label
    what = "without missing labels" if missing else "of strings, booleans or integers"
    raise ValueError(f"Expected `{name}` {what}; received {label!r} at {place}.")
