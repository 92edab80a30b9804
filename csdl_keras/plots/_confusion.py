"""The table behind the cost-weighted confusion matrix."""

from typing import Any

import numpy as np

from csdl_keras._array_checks import check_decisions
from csdl_keras.costs import check_cost_matrix, check_labels


def confusion_table(y_true: Any, decisions: Any, cost_matrix: Any) -> tuple[np.ndarray, np.ndarray]:
    """Counts pairs of true class and decision, and what each pair costs for an example.

    Args:
        y_true: integer labels of shape `(N,)`.
        decisions: integers of shape `(N,)`, below `D`.
        cost_matrix: shape `(K, D)`, `C[true, decision]`.

    Returns:
        The counts, int64 of shape `(K, D)`, and `counts * C / N`, float64 of
        shape `(K, D)`, whose sum is the average cost.

    Raises:
        ValueError: if an argument fails its check.

    Example:

    >>> counts, costs = confusion_table([0, 0, 1, 1], [0, 1, 0, 0], [[0, 1], [9, 0]])
    >>> counts
    array([[1, 1],
           [2, 0]])
    >>> costs
    array([[0.  , 0.25],
           [4.5 , 0.  ]])
    """
    matrix = check_cost_matrix(cost_matrix, square=False)
    labels = check_labels(y_true, matrix.shape[0])
    chosen = check_decisions(decisions, len(labels), matrix.shape[1])
    cells = labels * matrix.shape[1] + chosen
    counts = np.bincount(cells, minlength=matrix.size).reshape(matrix.shape)
    return counts, counts * matrix / len(labels)
