"""Decisions of one case after the other, compared with those that know the whole day."""

import numpy as np
import pytest

from csdl_keras import Budget, bayes_decisions, policy
from csdl_keras.costs import AffineCosts
from csdl_keras.prediction.bayes_decisions import expected_by

TWO = [[0, 1], [9, 0]]


def fraud(rng, size):
    """Of payments with amounts, an examination costs 5 and saves 80 %."""
    probabilities = 1 / (1 + np.exp(3 - 1.5 * rng.normal(size=size)))
    amounts = rng.lognormal(4, 0.7, size)
    return probabilities, AffineCosts(amounts, [[0, 0], [1, 0.2]], [[0, 5], [0, 5]])


def three(rng, size):
    costs = [[0, 1.0, 2], [8, 0, 3], [12, 6, 0]]
    return rng.dirichlet([2, 0.5, 0.5], size=size), costs


def hours(rng, size):
    return {1: Budget(400, rng.lognormal(3, 0.5, size))}


@pytest.mark.parametrize(
    ("cases", "capacity", "days"),
    [
        (fraud, lambda *_: {1: 20}, 20),
        (fraud, hours, 20),
        (three, lambda *_: {(1, 2): 20}, 5),
        (three, lambda *arguments: {**hours(*arguments), 2: 15}, 2),
    ],
)
def test_cost_beside_that_of_the_whole_day(cases, capacity, days):
    rng, losses = np.random.default_rng(1), []
    today = policy(*cases(rng, 2000), capacity(rng, 2000), num_cases=200)
    for _ in range(days):
        (probabilities, costs), of_day = cases(rng, 200), capacity(rng, 200)
        weights = getattr(of_day.get(1), "weights", None)
        decided = today.decide(probabilities, costs, weights)
        for key, limit in of_day.items():
            taken = np.isin(decided, key) * 1.0
            if isinstance(limit, Budget):
                taken, limit = taken * weights, limit.limit
            assert 0.8 * limit < taken.sum() <= limit
        known = bayes_decisions(probabilities, costs, of_day)
        expected, _ = expected_by(probabilities, costs, None)
        cost, lowest = (expected[np.arange(200), it].sum() for it in (decided, known))
        losses.append((cost - lowest) / lowest)
        today.reset()
    assert np.mean(losses) < 0.03


def test_batches_are_cases_one_by_one():
    """20 cases more than expected also keep the budget."""
    rng = np.random.default_rng(0)
    past, (probabilities, costs) = fraud(rng, 300), fraud(rng, 80)
    weights = rng.integers(1, 10, 80)
    at_once, singly = (policy(*past, {1: Budget(50, np.ones(300))}, num_cases=60) for _ in "ab")
    decided = at_once.decide(probabilities, costs, weights)
    for n in range(80):
        assert singly.decide(probabilities[[n]], costs[n], weights[[n]]) == decided[n]
    assert decided @ weights <= 50
    at_once.reset()
    np.testing.assert_array_equal(at_once.decide(probabilities, costs, weights), decided)


def test_prices_rise_when_capacity_is_used_and_fall_when_it_is_left():
    today = policy(np.linspace(0, 1, 1001) ** 6, TWO, {1: 10}, num_cases=101)
    at_first = today.prices[1]
    tenth = np.prod([(91 + i) / (101 + i) for i in range(6)])  # expected among 100 such cases
    np.testing.assert_allclose(at_first, 10 * tenth - 1, atol=0.04)
    assert today.decide([1.0] * 5).tolist() == [1] * 5
    assert today.prices[1] > at_first
    assert not today.decide([0.0] * 60).any()
    assert today.prices[1] < at_first


def test_wrong_arguments():
    with pytest.raises(ValueError, match="All 2 decisions have limits"):
        policy([0.5, 0.7], TWO, {0: 1, 1: 1})
    counted = policy(*fraud(np.random.default_rng(0), 50), {1: 5})
    within = policy(np.linspace(0, 1, 50), TWO, {1: Budget(hours=1, weights=np.ones(50))})
    before = counted.prices, within.prices
    for today, arguments, message in (
        (counted, ([0.5],), "`costs`"),
        (counted, ([0.5], TWO, [3.0]), "`weights` for the budgets"),
        (within, ([0.5],), "`weights` for the budgets"),
        (within, ([0.5], None, [1.0, 2.0]), "each of 1 examples"),
    ):
        with pytest.raises(ValueError, match=message):
            today.decide(*arguments)
    assert before == (counted.prices, within.prices)
