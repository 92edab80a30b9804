"""Between labels, whatever they are, and the rows and columns of cost matrices."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from csdl_keras._array_checks import as_array, check_rows
from csdl_keras.costs import check_cost_vectors, cost_vectors


def decision_labels(
    classes: np.ndarray, num_decisions: int, other_decisions: Sequence[Any] | None = None
) -> np.ndarray:
    """The label of each decision: those of the classes, then of what is no class.

    Args:
        classes: `(K,)` labels of the classes.
        num_decisions: `D`.
        other_decisions: `D - K` labels; `None` (default) counts on from the
            highest class where classes are numbers, and otherwise takes
            `"decision_K"`, `"decision_K+1"`, ...

    Raises:
        ValueError: if the labels are not as many, or not different.

    Example:

    >>> decision_labels(np.array([0, 1]), 3)
    array([0, 1, 2])
    >>> decision_labels(np.array(["cat", "dog"]), 3).tolist()
    ['cat', 'dog', 'decision_2']
    """
    classes, known = np.asarray(classes), min(len(classes), num_decisions)
    others: Any = other_decisions
    if others is None and classes.dtype.kind in "iuf":
        others = classes.max() + 1 + np.arange(num_decisions - known)
    elif others is None:
        others = [f"decision_{index}" for index in range(known, num_decisions)]
    if len(check_other_decisions(others)) != num_decisions - known:
        raise ValueError(
            f"Expected `other_decisions` to be {num_decisions - known} labels, one for each "
            f"decision that is no class; received {other_decisions!r}."
        )
    listed = [*classes[:known].tolist(), *others]
    if len(set(listed)) < len(listed):
        raise ValueError(f"Expected a label of its own for each decision; received {listed}.")
    if len(others) == 0:
        return classes[:known]
    # An array of several types would turn numbers into strings.
    alike = np.asarray(others).dtype.kind == classes.dtype.kind
    return np.array(listed, dtype=None if alike else object)


def check_other_decisions(labels: Any) -> Any:
    """Returns `labels` if they are a list or array of strings and numbers.

    Args:
        labels: of decisions that are no class.

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


def positions(name: str, labels: Any, known: np.ndarray) -> np.ndarray:
    """The index of each label among known ones, which need no order.

    Args:
        name: what the message calls the labels.
        labels: `(N,)`.
        known: different labels.

    Raises:
        ValueError: if a label is not known.

    Example:

    >>> positions("y", ["dog", "cat"], np.array(["cat", "dog"]))
    array([1, 0])
    """
    index = {label: position for position, label in enumerate(np.asarray(known).tolist())}
    listed = np.asarray(labels).tolist()
    wrong = [label for label in listed if not np.isscalar(label) or label not in index]
    if wrong:
        raise ValueError(f"Expected `{name}` to be among {list(index)}; received {wrong[0]!r}.")
    return np.array([index[label] for label in listed], dtype=np.int64)


def true_costs(y: Any, classes: np.ndarray, cost_matrix: np.ndarray | None, costs: Any) -> Any:
    """`(N, D)`: what each decision costs for each example, by its own costs or by its label."""
    if costs is None:
        if cost_matrix is None:
            raise ValueError(
                "Expected `costs` of each example, since there is no cost matrix; received None. "
                "Where scikit-learn calls, request them: set_score_request(costs=True)."
            )
        return cost_vectors(cost_matrix, positions("y", _column(y), classes))
    vectors = check_cost_vectors(costs, None if cost_matrix is None else cost_matrix.shape[1])
    check_rows("costs", vectors, len(_column(y)))
    return vectors


def _column(y: Any) -> np.ndarray:
    """Labels `(N,)`, of any type, also from a table of one column."""
    labels = as_array("y", y, "(N,)")
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"Expected `y` of shape (N,); received shape {labels.shape}.")
    return labels
