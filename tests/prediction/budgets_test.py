"""Decisions within budgets of different weights, beside all possible decisions."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csdl_keras import Budget, bayes_decisions
from csdl_keras.prediction.budgets import Problem, decisions_within

COSTS = np.array([[0, 1.0, 3], [5, 0, 3], [2, 2, 0]])


def used(decided, budget):
    """What decisions take from a budget."""
    return np.isin(decided, budget.decisions) @ np.asarray(budget.weights)


def total(expected, decided):
    return expected[np.arange(len(expected)), decided].sum()


def lowest_total(expected, budgets):
    """The lowest total of all decisions that keep the budgets."""
    size, width = expected.shape
    everything = map(list, itertools.product(range(width), repeat=size))
    return min(
        total(expected, decided)
        for decided in everything
        if all(used(decided, it) <= it.limit for it in budgets)
    )


def drawn(seed, size, width, number):
    """Expected costs, of which many tie in every second seed, and budgets that share decisions."""
    rng = np.random.default_rng(seed)
    expected = rng.integers(0, 20, (size, width)) * 1.0 if seed % 2 else rng.random((size, width))
    budgets = []
    for _ in range(number):
        some = rng.choice(np.arange(1, width), rng.integers(1, width), replace=False)
        weights = rng.integers(0, 10, size)
        limit = float(rng.integers(0, max(2, 3 * size)))
        budgets.append(Budget(limit, weights, tuple(some.tolist())))
    return expected, budgets


@pytest.mark.parametrize("number", [1, 2, 3])
def test_total_is_near_the_lowest(number):
    for seed in range(30):
        expected, budgets = drawn(seed, 5, 2 + seed % 3, number)
        decided, _ = decisions_within(Problem(expected, dict(enumerate(budgets))))
        possible = np.where([it == 0 for it in range(expected.shape[1])], expected, np.inf)
        for k in range(expected.shape[1]):
            fits = np.ones(len(expected), bool)
            for it in budgets:
                fits &= (k not in it.decisions) | (np.asarray(it.weights) <= it.limit)
            possible[fits, k] = expected[fits, k]
        free = [not any(k in it.decisions for it in budgets) for k in range(expected.shape[1])]
        gain = (expected[:, free].min(axis=1) - possible.min(axis=1)).max()
        assert all(used(decided, it) <= it.limit for it in budgets)
        best = lowest_total(expected, budgets)
        assert best - 1e-9 <= total(expected, decided) <= best + number * gain + 1e-9


@pytest.mark.parametrize("number", [1, 2, 3])
def test_many_cases_are_near_the_bound_of_their_prices(number):
    for seed in range(10):
        expected, budgets = drawn(seed, 2000, 4, number)
        decided, prices = decisions_within(Problem(expected, dict(enumerate(budgets))))
        priced = expected.copy()
        for price, it in zip(prices, budgets, strict=True):
            priced[:, list(it.decisions)] += price * it.weights[:, None]
        bound = priced.min(axis=1).sum() - prices @ [it.limit for it in budgets]
        assert (prices >= 0).all()
        assert all(used(decided, it) <= it.limit for it in budgets)
        assert total(expected, decided) <= bound + number * np.ptp(expected, axis=1).max()


@settings(max_examples=50)
@given(st.data())
def test_budgets_are_never_exceeded(data):
    size = data.draw(st.integers(1, 6))
    of_cases = st.lists(st.floats(0, 5), min_size=size, max_size=size)
    probabilities = data.draw(st.lists(st.floats(0, 1), min_size=size, max_size=size))
    several = st.lists(st.builds(Budget, st.floats(0, 9), of_cases), min_size=1, max_size=3)
    budgets = data.draw(several)
    decided = bayes_decisions(probabilities, [[0, 1], [5, 0]], capacity=budgets)
    for it in budgets:
        assert used(decided, Budget(it.limit, it.weights, 1)) <= it.limit * (1 + 1e-9)


def test_equal_weights_are_counts():
    """Also those whose quotient is rounded, 0.3 / 0.1."""
    probabilities = np.random.default_rng(0).dirichlet(np.ones(3), size=40)
    equal = {1: Budget(0.3, np.full(40, 0.1)), 2: Budget(11, np.full(40, 2.0))}
    counted, prices = bayes_decisions(probabilities, COSTS, {1: 3, 2: 5}, return_prices=True)
    decided, by_unit = bayes_decisions(probabilities, COSTS, equal, return_prices=True)
    np.testing.assert_array_equal(decided, counted)
    assert by_unit == pytest.approx({1: prices[1] / 0.1, 2: prices[2] / 2})


def test_ways_to_write_a_capacity():
    probabilities, minutes = [0.3, 0.2, 0.4, 0.5], [30, 20, 90, 120]
    costs = [[0, 1], [9, 0]]
    ways = [
        {1: Budget(hours=2, weights=minutes)},
        Budget(120, minutes),
        [Budget(120.0, np.array(minutes), decisions=1), Budget(3)],
        {(1,): Budget(120, minutes)},
    ]
    for capacity in ways:
        decided, prices = bayes_decisions(probabilities, costs, capacity, return_prices=True)
        assert decided.tolist() == [1, 0, 1, 0]  # 120 minutes; by gains for a minute 1, 0, 2, 3
        first = next(iter(prices))
        assert first == (next(iter(capacity)) if isinstance(capacity, dict) else 0)
        assert prices[first] == pytest.approx(2.6 / 90)


@pytest.mark.parametrize(
    ("capacity", "message"),
    [
        ({1: Budget(5, [1, 2, 3])}, "an entry for each of 2 examples"),
        (Budget(5, [1, 2]), "as its `decisions`"),
        ({1: Budget(5, [1, 2], decisions=2)}, "as its key"),
        ({3: Budget(5, [1, 2])}, "at most 2"),
        ([200], "numbers or budgets, or budgets; received 200"),
        ({(0, 1): Budget(5, [1, 2]), 2: 1}, "Expected a decision without a limit"),
    ],
)
def test_wrong_capacity(capacity, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        bayes_decisions([[1.0, 0, 0], [0, 0, 1]], COSTS, capacity)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Expected `limit`, or `hours`"),
        ({"hours": 4}, "weights` in minutes"),
        ({"limit": -1}, "`limit` to be a finite number"),
        ({"limit": 1, "weights": [-1.0]}, "at least 0"),
    ],
)
def test_wrong_budget(arguments, message):
    with pytest.raises(ValueError, match=message):
        Budget(**arguments)
