"""Converts between labels of any type and the rows and columns of cost matrices."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from csdl_keras._utils.arrays import as_array
from csdl_keras._utils.labels import scalars
from csdl_keras._utils.types import ArrayLike


def decision_labels(
    classes: np.ndarray, num_decisions: int, other_decisions: Sequence[object] | None = None
) -> np.ndarray:
    """Returns the label of each decision: first those of classes, then the others.

    Args:
        classes: `(K,)` labels of the classes.
        num_decisions: `D`.
        other_decisions: `D - K` labels; `None` (default) takes the next whole
            numbers above the highest class if classes are numbers (`False` and
            `True` count as 0 and 1), and otherwise `"decision_K"`,
            `"decision_K+1"`, ..., with `_` before a name that a class has.

    Returns:
        `(D,)`, of the dtype of the classes if all decisions are classes; otherwise
        of a dtype that holds every label exactly, `object` if there is no other.

    Raises:
        ValueError: if the number of labels is wrong or labels are equal.

    Example:

    >>> decision_labels(np.array([3, 255], "uint8"), 3)
    array([  3, 255, 256])
    >>> decision_labels(np.array(["cat", "dog"]), 3).tolist()
    ['cat', 'dog', 'decision_2']
    """
    classes, known = np.asarray(classes), min(len(classes), num_decisions)
    names = scalars(classes[:known])
    others: Any = other_decisions
    if others is None and classes.dtype.kind in "biuf":
        others = []
        for _ in range(num_decisions - known):
            others.append(_next_number(others[-1] if others else classes.max().item()))
    elif others is None:
        others = [_free_name(f"decision_{index}", names) for index in range(known, num_decisions)]
    if len(check_other_decisions(others)) != num_decisions - known:
        raise ValueError(
            f"Expected `other_decisions` to be {num_decisions - known} labels, one for each "
            f"decision that is not a class; received {other_decisions!r}."
        )
    listed = [*names, *others]
    if len(set(listed)) < len(listed):
        raise ValueError(f"Expected a distinct label for each decision; received {listed}.")
    if len(others) == 0:
        return classes[:known]
    if classes.dtype.kind in "biufU":
        array = np.array(listed)
        if array.tolist() == listed:  # NumPy may have rounded numbers or made them strings.
            return array
    return np.array(listed, dtype=object)


def _next_number(number: float) -> float:
    """Returns the next whole number above an int or float, or the next float if it is larger."""
    following = math.floor(number) + 1
    if isinstance(number, int):
        return following
    return max(float(following), math.nextafter(number, math.inf))


def _free_name(name: str, taken: Sequence[object]) -> str:
    """Returns `name`, with as many `_` before it as it takes to be unused."""
    return name if name not in taken else _free_name(f"_{name}", taken)


def check_other_decisions(labels: Any) -> Any:
    """Returns `labels` if they are a list or array of strings and numbers.

    Args:
        labels: labels of decisions that are not a class.

    Raises:
        ValueError: if they are anything else.

    Example:

    >>> check_other_decisions(["abstain"])
    ['abstain']
    """
    listed = isinstance(labels, (list, tuple)) or (isinstance(labels, np.ndarray) and labels.ndim)
    if not listed or not all(map(np.isscalar, labels)):
        raise ValueError(
            "Expected `other_decisions` to be a list of labels, strings or numbers; "
            f"received {labels!r}."
        )
    return labels


def column(y: ArrayLike) -> np.ndarray:
    """Returns labels `(N,)` of any type, also from a table of one column."""
    labels = as_array("y", y, "(N,)")
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"Expected `y` of shape (N,); received shape {labels.shape}.")
    return labels
