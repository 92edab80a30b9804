"""Costs that are known when deciding: one cost matrix for all examples, or one for each."""

from typing import Any, TypeAlias

import numpy as np

from csdl_keras._utils.arrays import call_of, check_entries, number_array
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.checks import REGRET_HINT, amounts, check_cost_matrix
from csdl_keras.costs.named_matrix import by_class


class AffineCosts:
    """Cost matrices of single examples that are affine in an amount, such as the sum of a loan.

    `C[n, y, k] = fixed[y, k] + amount[n] * per_unit[y, k]`. The array `(N, K, D)` is never created.
    `costs[indices]` returns the `AffineCosts` of the selected examples.

    Args:
        amount: finite numbers `(N,)`, one for each example.
        per_unit: array-like `(K, D)`, costs of one unit of the amount, `[true, decision]`.
        fixed: array-like `(K, D)`, costs that do not depend on the amount. Defaults to 0.

    Example:

    >>> costs = AffineCosts([10.0, 200.0], per_unit=[[0, 0], [1, 0]], fixed=[[0, 5], [0, 5]])
    >>> costs.expected(np.array([[0.9, 0.1], [0.9, 0.1]]))
    array([[ 1.,  5.],
           [20.,  5.]])
    """

    def __init__(self, amount: ArrayLike, per_unit: ArrayLike, fixed: ArrayLike | None = None):
        self.amount = amounts("amount", amount, 1, "(N,)")
        self.per_unit = amounts("per_unit", per_unit, 2, "(K, D), [true, decision]")
        fixed = np.zeros(self.per_unit.shape) if fixed is None else fixed
        self.fixed = amounts("fixed", fixed, 2, "(K, D), [true, decision]")
        if self.fixed.shape != self.per_unit.shape:
            raise ValueError(
                "`per_unit` and `fixed` need the same shape (K, D); received "
                f"{self.per_unit.shape} and {self.fixed.shape}."
            )
        # Affine costs are lowest and highest at the smallest and the largest amount.
        ends = np.array([self.amount.min(), self.amount.max()])[:, None, None]
        extremes = self.fixed + ends * self.per_unit
        amounts("costs of the lowest and highest amount", extremes, 3, "", negative=False)

    @property
    def shape(self) -> tuple[int, int, int]:
        """`(N, K, D)`."""
        return (len(self.amount), *self.per_unit.shape)

    def __repr__(self) -> str:
        return call_of(self, amount=self.amount, per_unit=self.per_unit, fixed=self.fixed)

    def __len__(self) -> int:
        return len(self.amount)

    def __getitem__(self, indices: Any) -> "AffineCosts":
        return AffineCosts(np.atleast_1d(self.amount[indices]), self.per_unit, self.fixed)

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise TypeError(f"AffineCosts are not expanded to an array of shape {self.shape}.")

    def expected(self, probabilities: np.ndarray) -> np.ndarray:
        """Returns the expected cost of each decision, `(N, D)`, from `(N, K)` probabilities."""
        return probabilities @ self.fixed + self.amount[:, None] * (probabilities @ self.per_unit)


#: Costs that `check_known_costs` accepts, and costs that it returns.
CostsLike: TypeAlias = ArrayLike | AffineCosts
KnownCosts: TypeAlias = np.ndarray | AffineCosts


def check_known_costs(
    costs: CostsLike,
    num_examples: int | None = None,
    num_classes: int | None = None,
    classes: Any = None,
) -> KnownCosts:
    """Checks a cost matrix, matrices `(N, K, D)` with any diagonals, or `AffineCosts`."""
    if isinstance(costs, AffineCosts):
        checked: KnownCosts = costs
    else:
        shape = "(K, D) or (N, K, D)"
        array = number_array("costs", by_class("costs", costs, shape, classes), shape)
        if array.ndim == 2:
            return check_cost_matrix(array, num_classes, square=False)
        if array.ndim != 3 or 0 in array.shape or min(array.shape[1:]) < 2:
            raise ValueError(
                f"Expected `costs` of shape {shape}, K and D at least 2; received shape "
                f"{array.shape}{', that of labels' if array.ndim == 1 else ''}."
            )
        checked = array if array.dtype.kind == "f" else array.astype(np.float64)
        right = (checked >= 0) & (checked < np.inf)
        check_entries("costs", checked, right, "finite and at least 0", f" {REGRET_HINT}")
    examples = len(checked) if num_examples is None else num_examples
    rows = checked.shape[1] if num_classes is None else num_classes
    if checked.shape[:2] != (examples, rows):
        raise ValueError(
            f"`costs` needs a matrix for each of {examples} examples, with one row for each of "
            f"{rows} classes; received shape {checked.shape}, (N, K, D)."
        )
    return checked


def expected_costs(probabilities: np.ndarray, costs: KnownCosts) -> np.ndarray:
    """Computes the expected cost of each decision, `r[n, k] = sum_y P(y|x_n) C[n, y, k]`."""
    if isinstance(costs, AffineCosts):
        return costs.expected(probabilities)
    if costs.ndim == 2:
        return probabilities @ costs
    return np.einsum("nk,nkd->nd", probabilities, costs, dtype=np.float64)


def mean_matrix(costs: KnownCosts) -> np.ndarray:
    """Returns the mean cost matrix of the examples, `(K, D)`, or the matrix of all of them."""
    if isinstance(costs, AffineCosts):
        return costs.fixed + costs.amount.mean() * costs.per_unit
    return costs if costs.ndim == 2 else costs.mean(axis=0, dtype=np.float64)


def vectors_of_labels(labels: np.ndarray, costs: KnownCosts) -> np.ndarray:
    """Returns the cost vector of each example, `C[labels[n]]` or `C[n, labels[n]]`, `(N, D)`."""
    if isinstance(costs, AffineCosts):
        return costs.fixed[labels] + costs.amount[:, None] * costs.per_unit[labels]
    if costs.ndim == 2:
        return costs[labels]
    return costs[np.arange(len(labels)), labels].astype(np.float64)
