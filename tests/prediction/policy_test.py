"""Decisions of one case after the other, beside those that know the whole day."""

import numpy as np
import pytest

from csdl_keras import Budget, bayes_decisions, policy
from csdl_keras.costs import AffineCosts
from csdl_keras.prediction.bayes_decisions import expected_by

THREE = np.array([[0, 1.0, 2], [8, 0, 3], [12, 6, 0]])


def fraud(rng, size):
    """Probabilities of fraud and amounts: an examination costs 5 and saves 80 %."""
    probabilities = 1 / (1 + np.exp(3 - 1.5 * rng.normal(size=size)))
    amounts = rng.lognormal(4, 0.7, size)
    return probabilities, AffineCosts(amounts, [[0, 0], [1, 0.2]], [[0, 5], [0, 5]])


def three(rng, size):
    return rng.dirichlet([2, 0.5, 0.5], size=size), THREE


def weighted(rng, size):
    return {1: Budget(400, rng.lognormal(3, 0.5, size))}


@pytest.mark.parametrize(
    ("cases", "capacity"),
    [
        (fraud, lambda *_: {1: 20}),
        (fraud, weighted),
        (three, lambda *_: {(1, 2): 20}),
        (three, lambda *arguments: {**weighted(*arguments), 2: 15}),
    ],
)
def test_cost_beside_that_of_the_whole_day(cases, capacity):
    rng, losses = np.random.default_rng(0), []
    today = policy(*cases(rng, 2000), capacity(rng, 2000), num_cases=200)
    for _ in range(6):
        probabilities, costs = cases(rng, 200)
        of_day = capacity(rng, 200)
        weights = getattr(of_day.get(1), "weights", None)
        decided = today.decide(probabilities, costs, weights)
        for key, limit in of_day.items():
            taken = np.isin(decided, key)
            if isinstance(limit, Budget):
                taken, limit = taken * limit.weights, limit.limit
            assert 0.85 * limit < taken.sum() <= limit
        known = bayes_decisions(probabilities, costs, of_day)
        expected, _ = expected_by(probabilities, costs, None)
        policy_cost, lowest = (expected[np.arange(200), it].sum() for it in (decided, known))
        losses.append((policy_cost - lowest) / lowest)
        today.reset()
    assert np.mean(losses) < 0.03


def test_batches_are_cases_one_by_one():
    rng = np.random.default_rng(0)
    past = fraud(rng, 300)
    at_once, singly = (policy(*past, {1: Budget(50, np.ones(300))}, num_cases=60) for _ in "ab")
    (probabilities, costs), weights = fraud(rng, 80), rng.integers(1, 10, 80)
    decided = at_once.decide(probabilities, costs, weights)
    for n in range(80):  # 20 more than expected
        one = singly.decide(probabilities[[n]], costs[n], weights[[n]])
        assert one.tolist() == [decided[n]]
    assert decided @ weights <= 50
    assert at_once.prices == singly.prices == {1: 0.0}
    at_once.reset()
    np.testing.assert_array_equal(at_once.decide(probabilities, costs, weights), decided)


def test_prices_rise_when_capacity_is_used_and_fall_when_it_is_left():
    past, costs = np.linspace(0, 1, 1001), [[0, 1], [9, 0]]
    today = policy(past, costs, {1: 10}, num_cases=100)
    at_first = today.prices[1]
    assert 10 * today._num_cases == 1000  # the 10th of 100 is expected to gain 10 * 0.9 - 1
    np.testing.assert_allclose(at_first, 8, rtol=0.02)
    assert today.decide([1.0] * 5).tolist() == [1] * 5
    assert today.prices[1] > at_first
    assert not today.decide([0.0] * 60).any()
    assert today.prices[1] < at_first


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, 0.7], THREE, {1: 1}), "for each of 2 classes"),
        (([0.5, 0.7], [[0, 1], [1, 0]], {0: 1, 1: 1}), "a decision without a limit"),
        (([0.5, 0.7], [[0, 1], [1, 0]], {1: Budget(1, [1, 2, 3])}), "each of 2 examples"),
        (([0.5, 0.7], [[0, 1], [1, 0]], {1: 1}, 0), "num_cases"),
    ],
)
def test_wrong_policy(arguments, message):
    with pytest.raises(ValueError, match=message):
        policy(*arguments)


def test_wrong_cases_count_as_none():
    rng = np.random.default_rng(0)
    counted = policy(*fraud(rng, 50), {1: 5})
    hours = policy(rng.random(50), [[0, 1], [9, 0]], {1: Budget(hours=1, weights=np.ones(50))})
    before = counted.prices, hours.prices
    with pytest.raises(ValueError, match="Expected `costs`"):
        counted.decide([0.5])
    with pytest.raises(ValueError, match="Expected `weights`"):
        counted.decide([0.5], [[0, 1], [9, 0]], [3.0])
    with pytest.raises(ValueError, match="Expected `weights` for the budgets"):
        hours.decide([0.5])
    with pytest.raises(ValueError, match="each of 1 examples"):
        hours.decide([0.5], weights=[1.0, 2.0])
    with pytest.raises(ValueError, match="decisions"):
        hours.decide([0.5], [[0, 1, 1], [9, 0, 1]], weights=[1.0])
    assert before == (counted.prices, hours.prices)
