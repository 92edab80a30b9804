"""The table behind the curve of cost against beta."""

from typing import Any

import numpy as np

from csdl_keras._array_checks import check_entries, real_array
from csdl_keras.costs._amounts import LARGEST


def beta_table(
    betas: Any, costs: Any, relative: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean costs and their standard errors over repetitions, for each beta.

    Args:
        betas: ascending, shape `(B,)`, in [0, 1].
        costs: shape `(R, B)`, a row for each repetition; NaN is missing,
            the largest 1e38.
        relative: `True` divides each row by its first cost, that of `beta = 0`.

    Returns:
        Betas, means and standard errors, float64 of shape `(B,)`. A mean is NaN
        where all costs are missing, a standard error where all but one are.

    Raises:
        ValueError: if an argument fails its check, or `relative` and the first
            beta is not 0 or its cost is 0.

    Example:

    >>> betas, means, errors = beta_table([0, 1], [[1.0, 2.0], [3.0, 12.0]], relative=True)
    >>> means, errors
    (array([1., 3.]), array([0., 1.]))
    """
    grid = real_array("betas", betas, 1, "(B,)", low=0.0)
    if grid[-1] > 1.0 or np.any(np.diff(grid) <= 0):
        raise ValueError(f"Expected `betas` to ascend from 0 to 1; received {grid.tolist()}.")
    table = real_array("costs", costs, 2, f"(repetitions, {len(grid)})", missing=True, low=0.0)
    if table.shape[1] != len(grid):
        raise ValueError(
            f"Expected `costs` of shape (repetitions, {len(grid)}), a column for each beta; "
            f"received shape {table.shape}."
        )
    _check_size(table)
    if relative:
        if grid[0] != 0.0:
            raise ValueError(
                f"Expected the first of `betas` to be 0 for relative costs; received {grid[0]}."
            )
        if np.any(table[:, 0] == 0.0):
            raise ValueError("Expected costs above 0 at beta 0 for relative costs; received 0.0.")
        with np.errstate(over="ignore"):
            table = table / table[:, :1]
        _check_size(table)
    known = ~np.isnan(table)
    if not known.any():
        raise ValueError("Expected `costs` that are not all missing; received only NaN.")
    number = known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(known, table, 0.0).sum(axis=0) / number
        squares = np.where(known, (table - means) ** 2, 0.0).sum(axis=0)
        # 0 / 0, that is NaN, for one repetition.
        errors = np.sqrt(squares / (number - 1.0) / number)
    return grid, means, np.where(number > 1, errors, np.nan)


def _check_size(table: np.ndarray) -> None:
    """Raises if squares of the costs might be infinite."""
    check_entries("costs", table, ~(table > LARGEST), f"of a size up to {LARGEST:g}")
