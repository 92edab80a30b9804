"""Validates predicted class probabilities."""

import numpy as np

from csdl_keras._utils.arrays import check_range, real_array
from csdl_keras._utils.tensors import TOLERANCE_16_BITS, probability_rows
from csdl_keras._utils.types import ArrayLike


def check_probabilities(probabilities: ArrayLike) -> np.ndarray:
    """Returns class probabilities as float64 rows `(N, K)`.

    Args:
        probabilities: `(N, K)`, K at least 2, or `(N, 1)` of class 1.

    Raises:
        ValueError: if a probability is not in [0, 1], or the rows do not sum to 1.

    Example:

    >>> check_probabilities([[0.25], [1.0]])
    array([[0.75, 0.25],
           [0.  , 1.  ]])
    """
    rows = real_array("probabilities", probabilities, 2, "(N, K)", low=0.0)
    if rows.shape[1] == 1:
        check_range("`probabilities`", rows, 0, 1, hint=" Are they logits or costs?")
        return np.hstack([1.0 - rows, rows])
    wrong = np.flatnonzero(~probability_rows(rows, TOLERANCE_16_BITS))
    if len(wrong):
        raise ValueError(
            f"Expected every row of `probabilities` to sum to 1; received row {wrong[0]}, "
            f"{rows[wrong[0]]}."
        )
    return rows
