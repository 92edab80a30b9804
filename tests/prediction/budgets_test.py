"""Decisions within budgets of different weights, compared with all possible decisions."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csdl_keras import Budget, bayes_decisions
from csdl_keras.prediction.budgets import Problem, decisions_within

COSTS = np.array([[0, 1.0, 3], [5, 0, 3], [2, 2, 0]])


def used(decided, budget):
    return np.isin(decided, budget.decisions) @ budget.weights


def drawn(seed, size, number):
    """Expected costs, of which many tie in every second seed, and budgets that share decisions."""
    rng, width = np.random.default_rng(seed), 2 + seed % 3
    expected = rng.integers(0, 20, (size, width)) * 1.0 if seed % 2 else rng.random((size, width))
    budgets = []
    for _ in range(number):
        some = rng.choice(np.arange(1, width), rng.integers(1, width), replace=False)
        weights = rng.integers(0, 10, size) if seed % 5 else rng.lognormal(-400, 150, size)
        budgets.append(Budget(weights.sum() * rng.random(), weights, tuple(some.tolist())))
    return expected, budgets


@settings(max_examples=150)
@given(st.integers(0, 2**32 - 1), st.sampled_from([5, 2000]), st.integers(1, 3))
def test_total_is_near_the_lowest_within_the_budgets(seed, size, number):
    """No decisions cost less than the bound by prices, and these hardly cost more."""
    expected, budgets = drawn(seed, size, number)
    problem = Problem(expected, dict(enumerate(budgets)))
    decided, prices = decisions_within(problem)
    assert all(used(decided, it) <= it.limit * (1 + 1e-9) for it in budgets)
    priced = problem.costs.copy()
    for price, it in zip(prices, budgets, strict=True):
        priced[:, list(it.decisions)] += price * it.weights[:, None]
    bound = priced.min(axis=1).sum() - prices @ [it.limit for it in budgets]
    free = [not any(k in it.decisions for it in budgets) for k in range(expected.shape[1])]
    gain = (expected[:, free].min(axis=1) - problem.costs.min(axis=1)).max()
    total = expected[np.arange(size), decided].sum()
    assert bound - 1e-9 <= total <= bound + number * gain + 1e-9
    everything = itertools.product(range(expected.shape[1]), repeat=size) if size == 5 else ()
    for one in everything:
        if all(used(one, it) <= it.limit for it in budgets):
            assert bound - 1e-9 <= expected[np.arange(size), list(one)].sum()


def test_equal_weights_are_counts():
    """Also those whose quotient is rounded, 0.3 / 0.1."""
    probabilities = np.random.default_rng(0).dirichlet(np.ones(3), size=40)
    equal = {1: Budget(0.3, np.full(40, 0.1)), 2: Budget(11, np.full(40, 2.0))}
    counted, prices = bayes_decisions(probabilities, COSTS, {1: 3, 2: 5}, return_prices=True)
    decided, by_unit = bayes_decisions(probabilities, COSTS, equal, return_prices=True)
    np.testing.assert_array_equal(decided, counted)
    assert by_unit == pytest.approx({1: prices[1] / 0.1, 2: prices[2] / 2})


def test_ways_to_write_a_capacity():
    """By gains for a minute, cases come in the order 0, 1, 3, 2; two hours are enough for two."""
    probabilities, minutes = [0.3, 0.4, 0.2, 0.5], [30, 85, 80, 120]
    by_hours, named = Budget(hours=2, weights=minutes), Budget(120, minutes, decisions=1)
    for capacity in ({1: by_hours}, {(1,): by_hours}, by_hours, [named, Budget(3)]):
        decided, prices = bayes_decisions(probabilities, [[0, 1], [9, 0]], capacity, True)
        assert decided.tolist() == [1, 1, 0, 0]
        key = next(iter(capacity)) if isinstance(capacity, dict) else 0
        assert prices[key] == pytest.approx(4 / 120)


@pytest.mark.parametrize(
    ("capacity", "message"),
    [
        (lambda: {1: Budget(5, [1, 2, 3])}, "an entry for each of 2 examples"),
        (lambda: Budget(5), "as its `decisions`"),
        (lambda: {1: Budget(5, decisions=2)}, "as its key"),
        (lambda: {(0, 1): 5, 2: 1}, "All 3 decisions have limits"),
        (lambda: Budget(hours=4), "`weights` in minutes"),
    ],
)
def test_wrong_capacity(capacity, message):
    with pytest.raises(ValueError, match=message):
        bayes_decisions([[1.0, 0, 0], [0, 0, 1]], COSTS, capacity())
