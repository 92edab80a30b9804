"""Decides within budgets of which cases use different amounts, such as hours of work."""

from collections.abc import Mapping
from dataclasses import InitVar, dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from scipy.special import betaincinv

from csdl_keras._utils.arrays import check_rows, real_array
from csdl_keras._utils.checks import check_integer, check_number, check_type
from csdl_keras._utils.types import ArrayLike


@dataclass(frozen=True, eq=False)
class Budget:
    """Limits the total use of decisions: `sum_n weights[n] 1[d_n in decisions] <= limit`.

    Args:
        limit: a number of at least 0, in the unit of `weights`.
        weights: `(N,)`, at least 0, how much one of `decisions` uses in each case. Defaults to 1.
        decisions: a decision or a tuple of several. `None` (default) for the key of a dict
            `capacity`, or for decision 1 of two.
        hours: the limit in hours, instead of `limit`, for `weights` in minutes.

    Example:

    >>> Budget(hours=2, weights=[30, 90, 45]).limit
    120.0
    """

    limit: float | None = None
    weights: ArrayLike | None = None
    decisions: int | tuple[int, ...] | None = None
    hours: InitVar[float | None] = None

    def __post_init__(self, hours: float | None) -> None:
        if (self.limit is None) == (hours is None) or (hours is not None and self.weights is None):
            raise ValueError(
                "A budget needs `limit`, or `hours` with `weights` in minutes; received "
                f"hours={hours} and {self}."
            )
        limit = self.limit if hours is None else 60.0 * check_number("hours", hours, 0.0)
        # `object` sets the fields, since the class is frozen.
        object.__setattr__(self, "limit", check_number("limit", limit, 0.0))
        if self.weights is not None:
            weights = real_array("weights", self.weights, 1, "(N,)", low=0.0)
            object.__setattr__(self, "weights", weights)
        if self.decisions is not None and not isinstance(self.decisions, tuple):
            object.__setattr__(self, "decisions", (self.decisions,))


#: Numbers of cases or budgets by decisions, or budgets with decisions of their own.
Capacity: TypeAlias = Mapping[Any, int | Budget] | Budget | list[Budget] | None


def as_budgets(capacity: Capacity, width: int) -> dict[Any, Any]:
    """Returns budgets with decisions, checked, by the keys of `capacity` or by position."""
    by_key = isinstance(capacity, Mapping)
    budgets: Any = [capacity] if isinstance(capacity, Budget) else capacity or ()
    budgets = dict(budgets if by_key else enumerate(budgets))
    for key, it in budgets.items():
        if by_key and not isinstance(it, Budget):
            it = Budget(check_integer(f"capacity[{key}]", it, 0))
        check_type("capacity", it, Budget, "a dict of numbers or budgets, or budgets")
        if by_key == bool(it.decisions) and width + by_key > 2:
            raise ValueError(
                "Write the decisions of a budget as its key in a dict `capacity`, or without a "
                f"dict as its `decisions`; received {key}: {it}."
            )
        budgets[key] = replace(it, decisions=key if by_key else it.decisions or (1,))
        for k in budgets[key].decisions:
            check_integer("a decision in `capacity`", k, 0, width - 1)
    return budgets


class Problem:
    """Expected costs `(N, D)` and the budgets `(B,)` that decisions use."""

    def __init__(self, expected: np.ndarray, budgets: dict[Any, Any]):
        size, width = expected.shape
        self.limits = np.array([it.limit for it in budgets.values()])
        self.weights = np.ones((len(budgets), size))
        self.takes = np.zeros((len(budgets), width), bool)
        for b, it in enumerate(budgets.values()):
            self.takes[b, list(it.decisions)] = True
            if it.weights is not None:
                check_rows("weights", it.weights, size, "examples")
                self.weights[b] = it.weights
        # A case that needs more than the whole budget cannot have that decision.
        too_large = (self.weights > self.limits[:, None]).T @ self.takes
        self.costs = np.where(too_large, np.inf, expected)

    def counts(self) -> np.ndarray | None:
        """Returns how many cases each budget covers, if it limits one decision of equal weights."""
        each, size = self.weights[:, :1], self.weights.shape[1]
        shared = (self.takes.sum(axis=0) > 1).any() or (self.takes.sum(axis=1) > 1).any()
        tiny = each[:, 0] <= 1e-12 * self.limits
        if shared or tiny.any() or (self.weights != each).any():
            return None
        return np.minimum(self.limits / each[:, 0] + 1e-9, size).astype(int)

    def fallback(self) -> np.ndarray:
        """Returns for each case the cheapest decision that uses no budget."""
        limited = np.any(self.takes, axis=0)
        if limited.all():
            raise ValueError(
                f"All {len(limited)} decisions have limits. Leave one without a limit, for cases "
                "that fit no budget."
            )
        return np.argmin(np.where(limited, np.inf, self.costs), axis=1)

    def prices(self, limits: np.ndarray, num_cases: int | None = None) -> np.ndarray:
        """Returns prices that keep the limits, or those expected for `num_cases` of these cases."""
        prices, exact = np.zeros(len(limits)), 1e-9 if num_cases is None else 1e-3
        for _ in range(100):
            before = prices.copy()
            for b, takes in enumerate(self.takes):
                # A price becomes that of the first case without a place; the others stay the same.
                prices[b] = 0.0
                priced = self.costs + (self.weights.T * prices) @ self.takes
                gain = priced[:, ~takes].min(axis=1) - priced[:, takes].min(axis=1)
                taking = self.weights[b] > 1e-12 * self.limits[b]  # Others are free.
                worth = np.maximum(gain[taking], 0.0) / self.weights[b, taking]
                order, size = np.argsort(-worth, kind="stable"), len(worth)
                wanted = np.cumsum(self.weights[b, taking][order])
                first = np.searchsorted(wanted, limits[b], side="right")
                if num_cases is not None and first < size:
                    # The share of cases above a rank in a random sample has a Beta distribution.
                    rank, middles = max(first, 1) / size * num_cases, (np.arange(16) + 0.5) / 16
                    first = (betaincinv(rank, num_cases - rank + 1, middles) * size).astype(int)
                prices[b] = np.append(worth[order], 0.0)[first].mean()
            if len(prices) < 2 or np.abs(prices - before).max() <= exact * prices.max():
                break
        return prices


def decisions_within(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Returns decisions `(N,)` within the budgets, of nearly the lowest total, and prices."""
    costs, chosen, left = problem.costs, problem.fallback(), problem.limits
    prices = problem.prices(left)
    priced = costs + (problem.weights.T * prices) @ problem.takes
    slack = priced - priced.min(axis=1, keepdims=True)
    # Cases get the best decision at the prices if it fits, the largest gain first. The remainder
    # goes to decisions that lose least compared with these.
    row, column = np.nonzero(costs < np.take_along_axis(costs, chosen[:, None], axis=1))
    loss = np.where(slack > 0, slack, priced - np.take_along_axis(priced, chosen[:, None], axis=1))
    for i in np.argsort(loss[row, column], kind="stable"):
        n, k = row[i], column[i]
        more = problem.weights[:, n] * (problem.takes[:, k] * 1.0 - problem.takes[:, chosen[n]])
        if costs[n, k] < costs[n, chosen[n]] and (more <= left).all():
            chosen[n], left = k, left - more
    return chosen, prices
