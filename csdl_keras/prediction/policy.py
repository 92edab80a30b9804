"""Decisions one case at a time, with capacities for a period."""

from dataclasses import replace
from typing import Any

import numpy as np

from csdl_keras._utils.arrays import check_rows, real_array, shown
from csdl_keras._utils.checks import check_integer
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.known import CostsLike
from csdl_keras.prediction.bayes_decisions import expected_by
from csdl_keras.prediction.budgets import Capacity, Problem, as_budgets, in_form_of


def policy(
    past_probabilities: ArrayLike,
    costs: CostsLike,
    capacity: Capacity,
    num_cases: int | None = None,
) -> "Policy":
    """Learns from past cases when a limited decision is worth its place, to decide case by case.

    A case gets the decision of the lowest `r[k] + price * weight` that fits. The price is what the
    last place is expected to be worth for the cases still to come, drawn from the past ones: it
    rises as capacity is used up, and falls as it is left over.

    Args:
        past_probabilities: `(M, K)`, or `(M,)` of class 1, of cases like those to come.
        costs: of the past cases, as in `csdl_keras.bayes_decisions`.
        capacity: of one period, as in `csdl_keras.bayes_decisions`, such as `{1: 20}`; each
            decision takes from one budget at most. Weights are those of the past cases.
        num_cases: how many cases a period is expected to have. Defaults to `M`.

    Returns:
        A `Policy` at the start of a period: `decide` its next cases, `reset()` for a new period,
        and `prices` for what one more place, or unit of a budget, is worth now.

    Raises:
        ValueError: if an argument is not as above, or no decision is without a limit.

    Example:

    >>> today = policy(np.linspace(0, 1, 101), [[0, 1], [9, 0]], capacity={1: 1}, num_cases=3)
    >>> today.decide([0.5, 0.9, 0.95])
    array([0, 1, 0])
    """
    expected, _ = expected_by(past_probabilities, costs, None)
    cases = len(expected) if num_cases is None else check_integer("num_cases", num_cases)
    made = Policy(expected, capacity, cases)
    made.matrix = None if hasattr(costs, "expected") or np.ndim(costs) == 3 else costs
    return made


class Policy:
    """Decides the cases of a period in their order; `csdl_keras.policy` returns it."""

    def __init__(self, expected: np.ndarray, capacity: Capacity, num_cases: int):
        self.capacity, self.num_cases, self.matrix = capacity, num_cases, None
        self._budgets = as_budgets(capacity, expected.shape[1])
        self._past = Problem(expected, self._budgets)
        self._past.fallback()  # It refuses budgets of all decisions.
        if not self._budgets or (self._past.takes.sum(axis=0) > 1).any():
            raise ValueError(
                "Expected `capacity` with each decision in one budget at most; received "
                f"{shown(capacity)}."
            )
        self.reset()

    def reset(self) -> None:
        """Starts a new period, with all its capacity."""
        self._left, self._to_come = self._past.limits, self.num_cases

    @property
    def prices(self) -> Any:
        """What one more place, or unit of a budget, is worth now, in the form of `capacity`."""
        return in_form_of(self.capacity, self._prices())

    def _prices(self) -> np.ndarray:
        after = self._to_come - 1  # How many come after the next one.
        if after <= 0:
            return np.zeros(len(self._left))
        return self._past.prices(self._left * len(self._past.costs) / after, after)

    def decide(
        self, probabilities: ArrayLike, costs: CostsLike | None = None, weights: Any = None
    ) -> np.ndarray:
        """Decides the next cases of the period, one after the other.

        Args:
            probabilities: `(N, K)`, or `(N,)` of class 1; one case is one row.
            costs: as in `csdl_keras.bayes_decisions`. `None` (default) for the cost matrix of the
                past cases.
            weights: `(N,)`, what the cases take from budgets with weights; `(B, N)` if that differs
                among `B` of them. Defaults to `None`, for capacities without weights.

        Returns:
            An int64 array of decisions, `(N,)`.

        Raises:
            ValueError: if an argument is not as above; then none of the cases counts as decided.
        """
        costs = self.matrix if costs is None else costs
        if costs is None:
            raise ValueError(
                "Expected `costs` of these cases, as the past ones had; received None."
            )
        expected, _ = expected_by(probabilities, costs, None)
        check_rows("decisions of `costs`", expected.T, len(self._past.free), "decisions before")
        weighted = [it for it in self._budgets if it.weights is not None]
        given = np.empty((0, len(expected)))
        if weights is not None:
            given = real_array("weights", np.atleast_2d(weights), 2, "(N,) or (B, N)", low=0.0)
        if len(given) not in {len(weighted), min(len(weighted), 1)}:
            raise ValueError(
                f"Expected `weights` for {len(weighted)} budgets that have weights; received "
                f"{shown(weights)}."
            )
        rows = iter(np.broadcast_to(given, (len(weighted), given.shape[1])))
        budgets = [
            it if it.weights is None else replace(it, weights=next(rows)) for it in self._budgets
        ]
        cases = Problem(expected, budgets)
        decided = np.zeros(len(expected), np.int64)
        for n, weight in enumerate(cases.weights.T):
            too_large = (weight > self._left) @ cases.takes
            priced = cases.costs[n] + (self._prices() * weight) @ cases.takes
            decided[n] = np.argmin(np.where(too_large, np.inf, priced))
            self._left = self._left - weight * cases.takes[:, decided[n]]
            self._to_come -= 1
        return decided
