"""Columns of a user's table, and what none may hold."""

import numpy as np

from csdl_keras._utils.arrays import LARGEST_NUMBER


def check_numbers(name: str, values: np.ndarray, missing: bool = False) -> None:
    """Raises a ValueError unless a column holds finite numbers; `missing=True` accepts NaN.

    Args:
        name: name of the column.
        values: the column, an array of floats.
        missing: whether numbers may be missing. Defaults to False.
    """
    wrong = ~(np.abs(values) <= LARGEST_NUMBER)
    if missing:
        wrong &= ~np.isnan(values)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"Expected finite numbers of a size up to {LARGEST_NUMBER:g} in column {name!r}; "
            f"received {values[row]} in row {row + 1}."
        )
