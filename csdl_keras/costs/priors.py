"""Checks class frequencies and compares them."""

from typing import Any

import numpy as np

from csdl_keras._utils.arrays import check_entries, real_array
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.named_matrix import by_class

#: Smaller probabilities are raised to this, since an example may belong to absent classes only.
LEAST_PROBABILITY = 1e-30


def class_shares(
    name: str,
    frequencies: ArrayLike,
    num_classes: int | None = None,
    positive: bool = True,
    classes: Any = None,
) -> np.ndarray:
    """Returns class frequencies, ordered by `by_class`, as shares; above 0 if `positive`."""
    shape = "(K,), a frequency for each class,"
    array = real_array(name, by_class(name, frequencies, shape, classes), 1, shape, low=0.0)
    if len(array) < 2 or num_classes not in (None, len(array)):
        wanted = "at least 2" if num_classes is None else num_classes
        raise ValueError(f"`{name}` needs frequencies of {wanted} classes; received {len(array)}.")
    if positive:
        check_entries(name, array, array > 0, "above 0")
    if not array.any():
        raise ValueError(f"All frequencies of `{name}` are 0. Pass one above 0.")
    array = array / array.max()  # Their sum could overflow.
    return array / array.sum()


def prior_ratios(from_shares: np.ndarray, to_shares: np.ndarray) -> np.ndarray:
    """Returns `to_shares / from_shares`, scaled so that the largest ratio is 1."""
    with np.errstate(divide="ignore"):  # The logarithm of a share of 0 is -inf.
        logs = np.log(to_shares) - np.log(from_shares)  # The quotient could overflow.
    return np.exp(logs - logs.max())
