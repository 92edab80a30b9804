"""Budgets of decisions for which each case takes its own amount, such as hours of work."""

from collections.abc import Mapping
from dataclasses import InitVar, dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from scipy.special import betaincinv

from csdl_keras._utils.arrays import call_of, check_rows, real_array
from csdl_keras._utils.checks import check_integer, check_number, check_type
from csdl_keras._utils.types import ArrayLike


@dataclass(frozen=True, eq=False, repr=False)
class Budget:
    """Limits what decisions take in all, `sum_n weights[n] 1[d_n in decisions] <= limit`.

    Args:
        limit: a number of at least 0, in the unit of `weights`.
        weights: `(N,)`, at least 0, what each case takes if one of `decisions` is made for it.
            Defaults to 1 each.
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
                "Expected `limit`, or `hours` with `weights` in minutes; received "
                f"limit={self.limit}, hours={hours} and {self}."
            )
        limit = self.limit if hours is None else 60.0 * check_number("hours", hours, 0.0)
        values: dict[str, Any] = {"limit": check_number("limit", limit, 0.0)}
        if self.weights is not None:
            values["weights"] = real_array("weights", self.weights, 1, "(N,)", low=0.0)
        if self.decisions is not None:
            numbers = self.decisions if isinstance(self.decisions, tuple) else (self.decisions,)
            values["decisions"] = tuple(check_integer("a decision", k, 0) for k in numbers)
        for name, value in values.items():
            object.__setattr__(self, name, value)  # The class is frozen.

    def __repr__(self) -> str:
        return call_of(self, limit=self.limit, weights=self.weights, decisions=self.decisions)


#: Numbers of cases or budgets by decisions, or budgets that name theirs.
Capacity: TypeAlias = Mapping[Any, int | Budget] | Budget | list[Budget] | None


def as_budgets(capacity: Capacity, width: int) -> list[Any]:
    """Returns budgets that each name decisions among `width`."""
    budgets: list[Any] = [capacity] if isinstance(capacity, Budget) else list(capacity or [])
    if isinstance(capacity, Mapping):
        for i, (key, value) in enumerate(capacity.items()):
            if not isinstance(value, Budget):
                value = Budget(check_integer(f"capacity[{key}]", value, 0))
            elif value.decisions is not None:
                raise ValueError(
                    f"Expected capacity[{key}] without `decisions`, which its key names; received "
                    f"{value}."
                )
            budgets[i] = replace(value, decisions=key)
    for i, it in enumerate(budgets):
        check_type("capacity", it, Budget, "numbers or budgets by decision, or budgets")
        if not it.decisions and width > 2:
            raise ValueError(f"Expected a budget with `decisions`, of {width}; received {it}.")
        budgets[i] = replace(it, decisions=it.decisions or (1,))
        for k in budgets[i].decisions:
            check_integer("a decision in `capacity`", k, 0, width - 1)
    return budgets


def in_form_of(capacity: Capacity, prices: np.ndarray) -> Any:
    """Returns the prices of budgets by the keys of `capacity`, or in a list."""
    numbers = prices.tolist()
    return dict(zip(capacity, numbers, strict=True)) if isinstance(capacity, Mapping) else numbers


class Problem:
    """Expected costs `(N, D)` and the budgets `(B,)` from which decisions take."""

    def __init__(self, expected: np.ndarray, budgets: list[Any]):
        size, width = expected.shape
        self.limits = np.array([it.limit for it in budgets])
        self.weights = np.ones((len(budgets), size))
        for row, it in zip(self.weights, budgets, strict=True):
            if it.weights is not None:
                check_rows("weights", it.weights, size, "examples")
                row[:] = it.weights
        self.takes = np.array([np.isin(np.arange(width), it.decisions) for it in budgets])
        self.takes = self.takes.reshape(len(budgets), width)
        self.free = ~self.takes.any(axis=0)
        self.expected = expected
        # A case that takes more than all there is cannot have that decision.
        too_large = (self.weights > self.limits[:, None]).T @ self.takes
        self.costs = np.where(too_large, np.inf, expected)

    def counts(self) -> np.ndarray | None:
        """Returns for how many cases budgets last, if all take the same for one decision each."""
        each = self.weights[:, :1]
        if (self.weights != each).any() or (self.takes.sum(axis=1) > 1).any():
            return None
        if (self.takes.sum(axis=0) > 1).any() or not each.all():
            return None
        return np.minimum(self.limits / each[:, 0] + 1e-9, self.weights.shape[1]).astype(int)

    def fallback(self) -> np.ndarray:
        """Returns for each case the cheapest decision that takes from no budget."""
        if not self.free.any():
            raise ValueError(
                "Expected a decision without a budget, for cases that fit in none; received "
                f"budgets of all {len(self.free)} decisions."
            )
        return np.argmin(np.where(self.free, self.costs, np.inf), axis=1)

    def priced(self, prices: np.ndarray) -> np.ndarray:
        """Returns costs to which is added what decisions take from budgets at their prices."""
        return self.costs + (prices[:, None] * self.weights).T @ self.takes

    def used(self, chosen: np.ndarray) -> np.ndarray:
        """Returns what the decisions `(N,)` take from each budget."""
        return np.where(self.takes[:, chosen], self.weights, 0.0).sum(axis=1)

    def prices(self, limits: np.ndarray, num_cases: int | None = None) -> np.ndarray:
        """Returns prices of the budgets under which hardly more is wanted than there is.

        With `num_cases`, those that are expected for as many cases drawn from these.
        """
        prices, exact = np.zeros(len(limits)), 1e-9 if num_cases is None else 1e-3
        for _ in range(100):
            before = prices.copy()
            for b, takes in enumerate(self.takes):
                # A price becomes that of the first case that goes without, the others unchanged.
                prices[b] = 0.0
                priced = self.priced(prices)
                gain = priced[:, ~takes].min(axis=1) - priced[:, takes].min(axis=1)
                taking = self.weights[b] > 0
                worth = np.maximum(gain[taking], 0.0) / self.weights[b, taking]
                order, size = np.argsort(-worth, kind="stable"), len(worth)
                wanted = np.cumsum(self.weights[b, taking][order])
                first = np.searchsorted(wanted, limits[b], side="right")
                if num_cases is not None and first < size:
                    # Above the case of a rank among random ones lies a share that is Beta.
                    rank = max(first, 1) / size * num_cases
                    middles = (np.arange(16) + 0.5) / 16
                    first = (betaincinv(rank, num_cases - rank + 1, middles) * size).astype(int)
                prices[b] = np.append(worth[order], 0.0)[first].mean()
            if len(prices) == 1 or np.abs(prices - before).max() <= exact * prices.max():
                break
        return prices


def decisions_within(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Returns decisions `(N,)` of nearly the lowest total that keep the budgets, and prices."""
    costs, fallback = problem.costs, problem.fallback()
    cheapest = np.argmin(costs, axis=1)
    if (problem.used(cheapest) <= problem.limits).all():
        return cheapest, np.zeros(len(problem.limits))
    prices = problem.prices(problem.limits)
    priced = problem.priced(prices)
    slack = priced - priced.min(axis=1, keepdims=True)
    bound = priced.min(axis=1).sum() - prices @ problem.limits
    saving = np.take_along_axis(costs, fallback[:, None], axis=1) - costs
    # Prices decide most cases. A linear program decides those that they nearly leave open, and
    # has more of them until its total shows that the prices are right for the others.
    by_doubt, number = np.argsort(np.partition(slack, 1, axis=1)[:, 1]), 2000
    while True:
        chosen, some = np.argmin(slack, axis=1), by_doubt[:number]
        chosen[some] = fallback[some]
        left = problem.limits - problem.used(chosen)
        if (left >= 0).all():
            share, saved, prices = _relaxed(problem, saving, some, left)
            total = np.take_along_axis(costs, chosen[:, None], axis=1).sum() - saved
            if number >= len(costs) or total - bound <= 1e-3 * saving.max():
                break
        number *= 8
    # Moves go in the order of the linear program, then of what they lose beside the prices, each
    # if it fits; so what whole cases leave over goes to the next best ones.
    row, column = np.nonzero(costs < np.take_along_axis(costs, chosen[:, None], axis=1))
    for i in np.lexsort((slack[row, column], -share[row, column])):
        n, k = row[i], column[i]
        more = problem.weights[:, n] * (problem.takes[:, k] * 1.0 - problem.takes[:, chosen[n]])
        if costs[n, k] < costs[n, chosen[n]] and (more <= left).all():
            chosen[n], left = k, left - more
    return chosen, prices


def _relaxed(
    problem: Problem, saving: np.ndarray, rows: np.ndarray, left: np.ndarray
) -> tuple[np.ndarray, float, np.ndarray]:
    """Returns shares of decisions `(N, D)` that save the most, how much that is, and prices."""
    from scipy.optimize import linprog  # slow to import
    from scipy.sparse import coo_array, vstack

    case, column = np.nonzero(saving[rows] > 0)
    saved = saving[rows[case], column]
    # HiGHS has absolute tolerances: costs and budgets are in units of the largest.
    unit, units = saved.max(initial=0.0) or 1.0, np.where(problem.limits > 0, problem.limits, 1.0)
    takes = problem.takes[:, column] * problem.weights[:, rows[case]] / units[:, None]
    shape = (len(rows), len(case))
    one_each = coo_array((np.ones(len(case)), (case, np.arange(len(case)))), shape=shape)
    found = linprog(
        -saved / unit,
        A_ub=vstack([coo_array(takes), one_each]),
        b_ub=np.concatenate([left / units, np.ones(len(rows))]),
        method="highs-ds",  # It ends in a vertex, which splits one case for each budget at most.
    )
    shares = np.zeros(saving.shape)
    shares[rows[case], column] = found.x
    return shares, -found.fun * unit, -found.ineqlin.marginals[: len(left)] * unit / units
