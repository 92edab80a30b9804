"""Decisions from probabilities, with and without limits, against all possible decisions."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from csdl_keras.costs.known import AffineCosts
from csdl_keras.prediction.bayes_decisions import bayes_decisions, limited_decisions

MATRIX = np.array([[0, 1.0, 3], [5, 0, 3], [2, 2, 0]])


def test_it_is_the_argmin_of_expected_costs():
    """Eighths and whole numbers tie often: the lowest index among equals."""
    rng = np.random.default_rng(0)
    probabilities = rng.multinomial(8, np.ones(3) / 3, size=50) / 8
    for one in (MATRIX, rng.uniform(size=(50, 3, 4)), rng.integers(0, 3, size=(50, 3, 4))):
        decided = bayes_decisions(probabilities, one)
        for n, p in enumerate(probabilities):
            matrix = one if one.ndim == 2 else one[n]
            assert decided[n] == np.argmin([p @ matrix[:, k] for k in range(matrix.shape[1])])


def test_probabilities_of_class_1():
    amounts = AffineCosts([1.0, 90.0, 30.0], [[0, 0], [1, 0]], [[0, 4], [0, 4]])
    for p in ([0.1] * 3, [[0.1]] * 3, [[0.9, 0.1]] * 3):
        assert bayes_decisions(p, amounts).tolist() == [0, 1, 0]


def lowest_total(expected, limits):
    """The lowest total of all decisions that keep the limits."""
    size, width = expected.shape
    totals = [
        expected[np.arange(size), list(decided)].sum()
        for decided in itertools.product(range(width), repeat=size)
        if all(decided.count(k) <= most for k, most in limits.items())
    ]
    return min(totals)


@settings(max_examples=60)
@given(st.data())
def test_limits(data):
    size, width = data.draw(st.integers(1, 5)), data.draw(st.integers(2, 4))
    # Small whole numbers tie often.
    numbers = st.one_of(st.integers(0, 3).map(float), st.floats(0, 1))
    rows = st.lists(numbers, min_size=width, max_size=width)
    expected = np.array(data.draw(st.lists(rows, min_size=size, max_size=size)))
    limits = data.draw(st.dictionaries(st.integers(0, width - 1), st.integers(0, size), min_size=1))
    assume(len(limits) < width or sum(limits.values()) >= size)
    unit = data.draw(st.sampled_from([1.0, 1e-9, 1e12]))
    decided, prices = limited_decisions(expected * unit, limits, True)
    counts = np.bincount(decided, minlength=width)
    assert all(counts[k] <= most for k, most in limits.items())
    total = expected[np.arange(size), decided].sum()
    np.testing.assert_allclose(total, lowest_total(expected, limits), atol=1e-9)
    for k in limits:
        more = lowest_total(expected, {**limits, k: limits[k] + 1})
        np.testing.assert_allclose(prices[k] / unit, total - more, atol=1e-9)


@pytest.mark.parametrize("unit", [1e-9, 1e12])
def test_any_unit_of_costs(unit):
    """Beside SciPy's assignment of examples to single places."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        expected = rng.lognormal(size=(60, 4))
        places = np.repeat(np.arange(4), (5, 20, 3, 60))
        best = expected[:, places][linear_sum_assignment(expected[:, places])].sum()
        decided, _ = limited_decisions(expected * unit, {0: 5, 1: 20, 2: 3}, False)
        np.testing.assert_allclose(expected[np.arange(60), decided].sum(), best, rtol=1e-9)


def test_many_examples_keep_their_limits():
    """Beside the dual bound, below which no decisions can come."""
    rng = np.random.default_rng(0)
    expected = rng.dirichlet(np.full(4, 0.5), size=20_000) @ (1.0 - np.eye(4))
    limits = {0: 1000, 1: 500, 2: 0}
    decided, prices = limited_decisions(expected, limits, True)
    total = np.take_along_axis(expected, decided[:, None], axis=1).sum()
    priced = expected + np.array([prices.get(k, 0.0) for k in range(4)])
    bound = priced.min(axis=1).sum() - sum(prices[k] * limits[k] for k in limits)
    assert np.bincount(decided, minlength=4)[:3].tolist() == [1000, 500, 0]
    np.testing.assert_allclose(total, bound, rtol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.5], [[0, 1], [1, 0]]), "to lie in"),
        (([0.5], MATRIX), "for each of 2 classes"),
        (([0.5], [[0, 1], [1, 0]], {0: 0, 1: 0}), "for 1 examples"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        bayes_decisions(*arguments)
