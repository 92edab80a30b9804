"""Decides one case at a time, with capacities for a period."""

from dataclasses import replace
from typing import Any

import numpy as np

from csdl_keras._utils.arrays import check_rows, shown
from csdl_keras._utils.checks import check_integer
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.known import AffineCosts, CostsLike
from csdl_keras.prediction.bayes_decisions import expected_by
from csdl_keras.prediction.budgets import Capacity, Problem, as_budgets


def policy(
    past_probabilities: ArrayLike, costs: CostsLike, capacity: Capacity, num_cases: Any = None
) -> "Policy":
    """Learns from past cases when to make a limited decision, for deciding case by case.

    A case gets the decision of the lowest `r[k] + price * weight` that fits. The price is the
    expected value of the last place for the remaining cases, which resemble the past ones: it rises
    as capacity is used up, and falls if capacity is left over.

    Args:
        past_probabilities: `(M, K)`, or `(M,)` of class 1, of cases like those to come.
        costs: of the past cases, as in `csdl_keras.bayes_decisions`.
        capacity: of one period, as in `csdl_keras.bayes_decisions`, with weights of the past cases.
        num_cases: expected number of cases in a period. Defaults to `M`.

    Returns:
        A `Policy` at the start of a period, with `decide` for its next cases, `reset()` for a new
        period, and `prices`, the present value of one more place, or unit of a budget.

    Raises:
        ValueError: if an argument is invalid, or every decision has a limit.

    Example:

    >>> today = policy(np.linspace(0, 1, 101), [[0, 1], [9, 0]], capacity={1: 1}, num_cases=3)
    >>> today.decide([0.5, 0.9, 0.95])
    array([0, 1, 0])
    """
    return Policy(past_probabilities, costs, capacity, num_cases)


class Policy:
    """Decides the cases of a period in their order; `csdl_keras.policy` returns it."""

    def __init__(self, probabilities: Any, costs: CostsLike, capacity: Capacity, num_cases: Any):
        expected = expected_by(probabilities, costs, None)[0]
        self._budgets = as_budgets(capacity, expected.shape[1])
        self._past = Problem(expected, self._budgets)
        self._past.fallback()  # This raises if budgets limit all decisions.
        cases = len(expected) if num_cases is None else check_integer("num_cases", num_cases)
        of_all = not isinstance(costs, AffineCosts) and np.ndim(costs) == 2
        self._num_cases, self._matrix = cases, costs if of_all else None
        self.reset()

    def reset(self) -> None:
        """Starts a new period, with all its capacity."""
        self._left, self._to_come = self._past.limits, self._num_cases

    @property
    def prices(self) -> dict[Any, float]:
        """The present value of one more place, or unit of a budget, by the keys of `capacity`."""
        after, prices = self._to_come - 1, np.zeros(len(self._left))
        if after > 0:  # The next case competes with those after it.
            prices = self._past.prices(self._left * len(self._past.costs) / after, after)
        return dict(zip(self._budgets, prices.tolist(), strict=True))

    def decide(
        self, probabilities: ArrayLike, costs: CostsLike | None = None, weights: Any = None
    ) -> np.ndarray:
        """Decides the next cases of the period, one after another, and returns `(N,)` decisions.

        Args:
            probabilities, costs: as in `csdl_keras.policy`; a single case is one row. `costs`
                default to its cost matrix, if all past cases had one.
            weights: `(N,)`, how much the cases use of budgets with weights; a dict by the keys of
                `capacity` if they differ. Defaults to `None`, for capacities without weights.
        """
        costs = self._matrix if costs is None else costs
        expected = expected_by(probabilities, costs, None)[0]  # type: ignore[arg-type]
        check_rows("the costs of cases", expected.T, self._past.takes.shape[1], "decisions")
        weighted = {key for key, it in self._budgets.items() if it.weights is not None}
        given = weights if isinstance(weights, dict) else dict.fromkeys(weighted, weights)
        if given.keys() != weighted or (weights is None) == bool(weighted):
            raise ValueError(
                f"Pass `weights` for the budgets {list(weighted)}, which have weights of past "
                f"cases; received {shown(weights)}."
            )
        now = {key: replace(self._budgets[key], weights=it) for key, it in given.items()}
        cases = Problem(expected, {**self._budgets, **now})
        decided = np.zeros(len(expected), np.int64)
        for n, weight in enumerate(cases.weights.T):
            priced = cases.costs[n] + ([*self.prices.values()] * weight) @ cases.takes
            too_large = (weight > self._left) @ cases.takes
            decided[n] = np.argmin(np.where(too_large, np.inf, priced))
            self._left = self._left - weight * cases.takes[:, decided[n]]
            self._to_come -= 1
        return decided
