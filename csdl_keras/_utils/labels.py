"""Maps class labels of any type to the rows of a cost matrix."""

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from csdl_keras._utils.arrays import as_array, check_entries
from csdl_keras._utils.types import ArrayLike


def value_key(label: Any) -> Any:
    """Returns a key that is equal for labels of equal value: 1 equals 1.0, but not `True`."""
    if isinstance(label, (bool, np.bool_)):
        return (bool, bool(label))
    return label.item() if isinstance(label, (np.number, np.str_)) else label


def label_array(name: str, labels: ArrayLike) -> np.ndarray:
    """Returns labels as an array; its dtype is the type of their values if they share one."""
    if isinstance(labels, (list, tuple)) and any(isinstance(one, (str, bool)) for one in labels):
        array = np.empty(len(labels), dtype=object)
        array[:] = labels  # `asarray` would convert numbers among strings to strings.
    else:
        array = as_array(name, labels, "(N,)")
    if array.dtype.kind != "O" and not (array.dtype.kind == "f" and np.isnan(array).any()):
        return array
    listed = array.ravel().tolist()
    for place, label in enumerate(listed):
        if label is None or type(label).__name__ in ("NAType", "NaTType") or label != label:
            raise ValueError(
                f"`{name}` has a missing label, {label!r} at {place}. Remove such examples."
            )
    types = {type(label) for label in listed}
    for kind in (bool,) if bool in types else (str, numbers.Integral, numbers.Real):
        if types and all(issubclass(one, kind) for one in types):
            found = np.array(listed)
            # NumPy rounds integers that are too large for its types.
            return found.reshape(array.shape) if found.tolist() == listed else array
    return array


def one_hot_hint(name: str, array: np.ndarray) -> str:
    """Returns advice on converting one-hot rows to labels; `""` for other arrays."""
    if array.ndim < 2 or array.dtype.kind not in "biuf" or array.shape[-1] < 2:
        return ""
    one_hot = (array.max(axis=-1) == 1) & (np.count_nonzero(array, axis=-1) == 1)
    return f" Rows are one-hot: pass `{name}.argmax(axis=-1)`." if one_hot.all() else ""


def positions(name: str, labels: ArrayLike, known: ArrayLike) -> np.ndarray:
    """Returns the index of each label among known labels in any order, compared by value."""
    array, classes = label_array(name, labels), np.asarray(known).tolist()
    index = {value_key(label): position for position, label in enumerate(classes)}
    listed = array.ravel().tolist()
    found = [index.get(value_key(label), -1) for label in listed]
    if -1 in found:
        unknown = listed[found.index(-1)]
        raise ValueError(f"`{name}` contains {unknown!r}, which is not one of {classes}.")
    return np.array(found, dtype=np.int64).reshape(array.shape)


def check_decisions(
    decisions: ArrayLike, num_examples: int, num_decisions: int, name: str = "decisions"
) -> np.ndarray:
    """Returns `decisions` as int64 if each example has one in `[0, num_decisions)`."""
    array = label_array(name, decisions)
    if array.shape != (num_examples,) or array.dtype.kind not in "iu":
        raise ValueError(
            f"Expected `{name}` of shape ({num_examples},), an integer for each label; "
            f"received shape {array.shape} and dtype {array.dtype}.{one_hot_hint(name, array)}"
        )
    what = f"at least 0 and below {num_decisions}, the number of decisions"
    check_entries(name, array, (array >= 0) & (array < num_decisions), what)
    return array.astype(np.int64)


def own_classes(name: str, labels: ArrayLike) -> np.ndarray | None:
    """Returns the sorted classes `(K,)` of labels that are strings or booleans; else `None`."""
    array = label_array(name, labels)
    if array.ndim == 1 and array.dtype.kind == "O":
        kinds = sorted({type(label).__name__ for label in array.tolist()})
        raise ValueError(
            f"`{name}` mixes {' and '.join(kinds)}. Pass only strings, booleans or integers."
        )
    if array.ndim != 1 or array.dtype.kind not in "bU":
        return None
    return np.array([False, True]) if array.dtype.kind == "b" else np.unique(array)


def class_labels(classes: Any) -> np.ndarray | None:
    """Returns class labels `(K,)`, given or of a model or estimator; `None` without any."""
    if hasattr(classes, "predict"):
        classes = getattr(classes, "classes_", getattr(classes, "classes", None))
    if classes is None:
        return None
    labels = label_array("classes", classes)
    if labels.ndim != 1 or len({*map(value_key, labels.tolist())}) < max(2, len(labels)):
        raise ValueError(
            f"Expected `classes` to be at least two distinct labels; received {classes!r}."
        )
    return labels


def decision_labels(
    classes: np.ndarray, num_decisions: int, other_decisions: Sequence[object] | None = None
) -> np.ndarray:
    """Returns the labels of decisions `(D,)`: classes first, then given or new labels."""
    classes, known = np.asarray(classes), min(len(classes), num_decisions)
    others: Any = other_decisions
    if others is None and classes.dtype.kind in "biuf":
        others = [classes.max().item() + 1 + k for k in range(num_decisions - known)]
    elif others is None:
        others = [f"decision_{k}" for k in range(known, num_decisions)]
    # `tolist` converts dates to other objects, in some units to integers.
    own = classes[:known] if classes.dtype.kind in "mM" else classes[:known].tolist()
    listed = [*own, *others]
    if isinstance(others, str) or len(listed) != num_decisions or len(set(listed)) < num_decisions:
        raise ValueError(
            f"Decisions need distinct labels; received {listed}. Pass `other_decisions` for "
            f"{num_decisions - known} of them."
        )
    if len(listed) == known:
        return classes[:known]
    array = np.array(listed)
    # NumPy may have rounded numbers or made them strings.
    exact = classes.dtype.kind in "biufU" and array.tolist() == listed
    return array if exact else np.array(listed, dtype=object)
