"""Computes Bayes decisions from the probabilities of any classifier, optionally with capacities."""

from typing import Any

import numpy as np

from csdl_keras._utils.arrays import as_array
from csdl_keras._utils.checks import check_bool
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.between import CostRange
from csdl_keras.costs.checks import check_probabilities
from csdl_keras.costs.known import CostsLike, check_known_costs, expected_costs
from csdl_keras.prediction.budgets import Capacity, Problem, as_budgets, decisions_within


def bayes_decisions(
    probabilities: ArrayLike,
    costs: CostsLike,
    capacity: Capacity = None,
    return_prices: bool = False,
    classes: Any = None,
) -> Any:
    """Decides for each example at the lowest expected cost, by any classifier's probabilities.

    `d_n = argmin_k sum_y P(y|x_n) C[n, y, k]`, the lowest index among equals. With a `capacity`,
    the total `sum_n r[n, d_n]` of expected costs is the lowest that is possible when decision `k`
    is made at most `capacity[k]` times: the transport problem is solved exactly.

    If cases need different amounts of a `csdl_keras.Budget`, or budgets share decisions, no budget
    is exceeded and the total is nearly the lowest. It exceeds the bound of the linear relaxation by
    at most the largest gain of a case with one budget, and by about that much for each of several.

    Args:
        probabilities: `(N, K)`, rows that sum to 1; or `(N,)` or `(N, 1)`, of class 1; or
            `(N, ..., K)` or `(N, ..., 1)`, such as of pixels, for a cost matrix `(K, D)`.
        costs: as in `csdl_keras.decide`, or a range of `csdl_keras.costs.between`.
        capacity: how often a decision may be made at most, such as `{1: 200}`; the others
            have no limit. A value may be a `csdl_keras.Budget`, and its key a tuple of decisions.
            Or pass a `Budget` or a list of them, with their decisions. `None` (default): no limits.
        return_prices: whether to also return prices: by how much one more of each limited decision,
            or unit of a budget, would lower the total expected cost. Defaults to False.
        classes: the `K` labels in the order of the columns of `probabilities`, or the estimator
            that made them. A data frame of costs is put into that order. Defaults to `None`.

    Returns:
        An int64 array of decisions, `(N,)` or `(N, ...)`; with `return_prices=True` a tuple of
        that and a dict from limited decisions, or from positions in a list of budgets, to prices.

    Raises:
        ValueError: if an argument is invalid, or the limits leave too few decisions.

    Example:

    >>> probabilities = [[0.9, 0.1], [0.7, 0.3], [0.8, 0.2]]
    >>> costs = [[0, 1], [9, 0]]
    >>> bayes_decisions(probabilities, costs)
    array([0, 1, 1])
    >>> bayes_decisions(probabilities, costs, capacity={1: 1}, return_prices=True)
    (array([0, 1, 0]), {1: 1.0})
    >>> from csdl_keras import Budget
    >>> hours = Budget(hours=1, weights=[5, 70, 50])
    >>> bayes_decisions(probabilities, costs, capacity={1: hours})
    array([0, 0, 1])
    """
    check_bool("return_prices", return_prices)
    expected, shape = expected_by(probabilities, costs, classes)
    size, width = expected.shape
    budgets = as_budgets(capacity, width)
    problem = Problem(expected, budgets)
    counts = problem.counts()
    if counts is None:
        decisions, prices = decisions_within(problem)
    elif len(counts) == width and counts.sum() < size:
        raise ValueError(
            f"`capacity` is only {counts.sum()} in all for {size} examples. Raise it, or leave a "
            "decision without a limit."
        )
    else:
        limited = np.argmax(problem.takes, axis=1).tolist()
        limits = dict(zip(limited, counts.tolist(), strict=True))
        decisions, by_decision = limited_decisions(expected, limits, return_prices)
        prices = np.array([by_decision.get(k, 0.0) for k in limited]) / problem.weights[:, 0]
    decisions = decisions.reshape(shape)
    by_key = dict(zip(budgets, prices.tolist(), strict=True))
    return (decisions, by_key) if return_prices else decisions


def expected_by(
    probabilities: ArrayLike, costs: CostsLike, classes: Any
) -> tuple[np.ndarray, tuple[int, ...]]:
    """Returns the expected cost of each decision, `(N, D)`, and the shape of the examples."""
    array = as_array("probabilities", probabilities, "(N, K), (N,) or (N, ..., K)")
    of_parts, shape = array.ndim > 2, array.shape[:1] if array.ndim == 1 else array.shape[:-1]
    if array.ndim == 1:
        probabilities = array[:, None]
    elif of_parts and array.size:
        probabilities = array.reshape(-1, array.shape[-1])
    rows = check_probabilities(probabilities, classes)
    checked = check_known_costs(costs, None if of_parts else len(rows), rows.shape[1], classes)
    if isinstance(costs, CostRange) and costs.robust:
        return costs.regrets(rows), shape
    return expected_costs(rows, checked), shape


def limited_decisions(
    expected: np.ndarray, limits: dict[int, int], with_prices: bool
) -> tuple[np.ndarray, dict[int, float]]:
    """Returns the decisions `(N,)` of lowest total cost that keep the limits, and their prices."""
    room = np.array([limits.get(k, len(expected)) for k in range(expected.shape[1])])
    cheapest = np.argmin(expected, axis=1)
    if (np.bincount(cheapest, minlength=len(room)) <= room).all():
        return cheapest, dict.fromkeys(sorted(limits), 0.0)
    decisions, total = _solve(expected, room)
    prices = {}
    for k in sorted(limits) if with_prices else ():
        more = room + (np.arange(len(room)) == k)
        prices[k] = max(0.0, total - _solve(expected, more)[1])
    return decisions, prices


def _solve(costs: np.ndarray, room: np.ndarray) -> tuple[np.ndarray, float]:
    """Returns the column of each row, and the total; column `j` has room for `room[j]` rows."""
    prices = _prices(costs, room)
    priced = costs + prices
    # A column that costs a row more than the gap to the optimum is left out, which leaves a small
    # transport problem; the gap is found by a solution within a smaller one.
    slack = priced - priced.min(axis=1, keepdims=True)
    lower = priced.min(axis=1).sum() - prices @ room
    rounding = 1e-12 * np.abs(costs).sum()
    gap = 1e-6 * slack.max() + rounding
    while (chosen := _transport(costs, slack <= gap, room)) is None and gap < slack.max():
        gap *= 10
    if chosen is not None and (largest := _total(costs, chosen) - lower + rounding) > gap:
        chosen = _transport(costs, slack <= largest, room)
    assert chosen is not None  # The limits leave a column for each row.
    return chosen, _total(costs, chosen)


def _total(costs: np.ndarray, chosen: np.ndarray) -> float:
    return float(np.take_along_axis(costs, chosen[:, None], axis=1).sum())


def _prices(costs: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Returns prices of columns under which rows prefer hardly any column too often."""
    prices = np.zeros(costs.shape[1])
    scale = float(np.abs(costs).max()) or 1.0
    for _ in range(200):
        before = prices.copy()
        # A price becomes that of the first row that gets no place. None exceeds the lowest prices
        # that keep the limits, since a higher price of one column only raises demand for others.
        for j in np.flatnonzero(room < len(costs)):
            gain = np.delete(costs + prices, j, axis=1).min(axis=1) - costs[:, j]
            first_without = len(costs) - 1 - room[j]
            prices[j] = max(prices[j], np.partition(gain, first_without)[first_without])
        if np.abs(prices - before).max() <= 1e-13 * scale:
            break
    return prices


def _transport(costs: np.ndarray, possible: np.ndarray, room: np.ndarray) -> np.ndarray | None:
    """Returns the optimal possible column of each row by SciPy's HiGHS, or `None` without room."""
    from scipy.optimize import linprog  # This is slow to import.
    from scipy.sparse import coo_array

    chosen = np.argmax(possible, axis=1)
    open_rows = np.flatnonzero(possible.sum(axis=1) > 1)
    fixed = np.delete(chosen, open_rows)
    left = room - np.bincount(fixed, minlength=len(room))
    if not open_rows.size:
        return None if (left < 0).any() else chosen
    # Equal rows are merged and counted; the vertices of such problems are whole numbers.
    known = np.where(possible[open_rows], costs[open_rows], np.inf)
    kinds, kind_of_row, counts = np.unique(known, axis=0, return_inverse=True, return_counts=True)
    kind, column = np.nonzero(np.isfinite(kinds))
    # HiGHS has absolute tolerances, so costs are relative to the cheapest and the largest.
    beyond = (kinds - kinds.min(axis=1, keepdims=True))[kind, column]
    ones, variables = np.ones(len(kind)), np.arange(len(kind))
    found = linprog(
        beyond / (beyond.max(initial=0.0) or 1.0),
        A_ub=coo_array((ones, (column, variables)), shape=(len(room), len(kind))),
        b_ub=left,
        A_eq=coo_array((ones, (kind, variables)), shape=(len(kinds), len(kind))),
        b_eq=counts,
        method="highs-ipm",
    )
    if found.x is None:
        return None
    numbers = np.rint(found.x).astype(int)
    by_kind = np.argsort(kind_of_row.ravel(), kind="stable")
    chosen[open_rows[by_kind]] = np.repeat(column, numbers)
    return chosen
