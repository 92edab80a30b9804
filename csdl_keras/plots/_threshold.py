"""The table behind the curve of average cost against threshold."""

from typing import Any

import numpy as np

from csdl_keras._array_checks import as_array, check_rows, real_array
from csdl_keras.costs import check_cost_matrix, check_labels


def threshold_table(
    y_true: Any, probabilities: Any, cost_matrix: Any
) -> tuple[np.ndarray, np.ndarray]:
    """The average cost of deciding 1 if `P(1) >= t`, for every `t` that makes a difference.

    Args:
        y_true: labels 0 and 1 of shape `(N,)`.
        probabilities: of class 1, shape `(N,)` or `(N, 1)`, or of both classes,
            shape `(N, 2)`.
        cost_matrix: shape `(2, 2)`, `C[true, decision]`.

    Returns:
        Thresholds and costs, float64 of shape `(M + 1,)`: the `M` different
        probabilities, ascending, and infinity, which never decides 1. A cost
        holds for thresholds above the previous one up to and including its own.

    Raises:
        ValueError: if an argument fails its check.

    Example:

    >>> thresholds, costs = threshold_table([0, 1, 1], [0.2, 0.2, 0.7], [[0, 1], [9, 0]])
    >>> thresholds
    array([0.2, 0.7, inf])
    >>> costs.round(3)
    array([0.333, 3.   , 6.   ])
    """
    matrix = check_cost_matrix(cost_matrix, num_classes=2)
    labels = check_labels(y_true, 2)
    scores = _of_class_one(probabilities)
    check_rows("probabilities", scores, len(labels))
    thresholds, position = np.unique(scores, return_inverse=True)
    # Examples of each class below a threshold: those for which 0 is decided.
    below = np.zeros((2, len(thresholds) + 1))
    for label in (0, 1):
        counts = np.bincount(position[labels == label], minlength=len(thresholds))
        below[label, 1:] = np.cumsum(counts)
    wrongly_one, wrongly_zero = below[0, -1] - below[0], below[1]
    costs = (wrongly_one * matrix[0, 1] + wrongly_zero * matrix[1, 0]) / len(labels)
    return np.append(thresholds, np.inf), costs


def _of_class_one(probabilities: Any) -> np.ndarray:
    shape = "(N,), (N, 1) or (N, 2)"
    given = as_array("probabilities", probabilities, shape)
    ndim = 1 if given.ndim == 1 else 2
    array = real_array("probabilities", given, ndim, shape, low=0.0)
    if array.max() > 1.0:
        raise ValueError(
            f"Expected `probabilities` of at most 1; received {array.max()}. "
            "Are they logits or costs?"
        )
    if ndim == 1:
        return array
    if array.shape[1] > 2:
        raise ValueError(
            f"Expected `probabilities` of shape {shape}, since only problems of two classes have "
            f"a threshold; received shape {array.shape}."
        )
    sums = array.sum(axis=1)
    # Loose enough for softmax in 16 bits.
    wrong = np.flatnonzero(np.abs(sums - 1.0) > 0.01)
    if array.shape[1] == 2 and len(wrong):
        raise ValueError(
            "Expected every row of `probabilities` to sum to 1; "
            f"received the sum {sums[wrong[0]]} in row {wrong[0]}."
        )
    return array[:, -1]
