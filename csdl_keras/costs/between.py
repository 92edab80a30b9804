"""Costs that are only known to lie in a range."""

import dataclasses
from typing import Any

import numpy as np

from csdl_keras._utils.checks import check_bool
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.checks import check_cost_matrix, check_probabilities


@dataclasses.dataclass(frozen=True, eq=False)
class CostRange:
    """Represents the cost matrices between two others; `csdl_keras.costs.between` returns it.

    NumPy converts it to the mean, so functions that expect a cost matrix decide by the mean.

    Args:
        low, high, mean, robust: as in `between`.
    """

    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray
    robust: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """`(K, D)`."""
        return self.mean.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.mean, dtype=dtype)  # This is always a copy.

    def regrets(self, probabilities: ArrayLike) -> np.ndarray:
        """Computes the largest expected regret of each decision anywhere in the range, `(N, D)`.

        It is 0 where no costs of the range make another decision cheaper:
        `max(0, max_{j != k} sum_y P(y|x) (high[y, k] - low[y, j]))`.
        """
        rows = check_probabilities(probabilities)
        highest, lowest = rows @ self.high, rows @ self.low
        others = np.stack(
            [np.delete(lowest, k, axis=1).min(axis=1) for k in range(lowest.shape[1])], axis=1
        )
        return np.maximum(0.0, highest - others)


def between(
    low: ArrayLike, high: ArrayLike, mean: ArrayLike | None = None, robust: bool = False
) -> CostRange:
    """Describes costs that are only known to lie between two matrices.

    Each cost may lie anywhere in its own range. Decisions minimise the expected cost under the
    mean, since expected costs are linear in the costs; with `robust=True`, they minimise the
    largest expected regret within the range. With `probabilities=`, `cost_report` counts the cases
    in which other costs within the range would change the decision.

    Args:
        low, high: cost matrices `(K, D)`, `C[true, decision]`, the ends of each range.
        mean: the expected costs, `(K, D)`. `None` (default) is the middle of the ranges.
        robust: whether to minimise the largest regret instead of the mean cost. Defaults to False.

    Returns:
        A `CostRange`, to pass instead of a cost matrix.

    Example:

    >>> import csdl_keras
    >>> costs = [[0, 1], [2, 0]], [[0, 1], [8, 0]]
    >>> probabilities = [[0.82, 0.18], [0.7, 0.3]]
    >>> csdl_keras.bayes_decisions(probabilities, between(*costs))
    array([1, 1])
    >>> between(*costs).regrets(probabilities).round(2)
    array([[0.62, 0.46],
           [1.7 , 0.1 ]])
    """
    lowest, highest = (check_cost_matrix(one, square=False) for one in (low, high))
    if mean is None:
        mean = (lowest + highest) / 2 if lowest.shape == highest.shape else lowest
    middle = check_cost_matrix(mean, square=False)
    found = CostRange(lowest, highest, middle, check_bool("robust", robust))
    if not found.low.shape == found.high.shape == found.mean.shape:
        raise ValueError(
            "`low`, `high` and `mean` need the same shape; received "
            f"{found.low.shape}, {found.high.shape} and {found.mean.shape}."
        )
    wrong = np.argwhere((found.low > found.mean) | (found.mean > found.high))
    if len(wrong):
        place = tuple(wrong[0].tolist())
        raise ValueError(
            "`low` must be at most `mean`, and `mean` at most `high`; received "
            f"{found.low[place]:g}, {found.mean[place]:g} and {found.high[place]:g} at {place}."
        )
    return found
