"""Tests of conversions of costs, and of what regret leaves unchanged."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from csdl_keras import costs

C = [[0.0, 1.0, 2.0], [5.0, 0.0, 4.0], [3.0, 6.0, 0.0]]


class TestCostVectors:
    def test_rows(self):
        labels = [2, 0, 0, 1]
        np.testing.assert_array_equal(costs.cost_vectors(C, labels), [C[y] for y in labels])
        wide = [[0.0, 1.0, 0.5], [2.0, 0.0, 0.5]]
        np.testing.assert_array_equal(costs.cost_vectors(wide, [1]), [wide[1]])


class TestRegret:
    @hypothesis.given(st.integers(1, 6), st.integers(2, 6), st.integers(0, 999))
    def test_cheapest_and_bayes_decisions_stay(self, rows, columns, seed):
        rng = np.random.default_rng(seed)
        # Whole numbers are exact in floats, and often tied.
        money = rng.integers(-9, 9, size=(rows, columns)).astype(float)
        before = money.copy()
        result = costs.regret(money)
        np.testing.assert_array_equal(money, before)
        np.testing.assert_array_equal(result.min(axis=1), 0.0)
        np.testing.assert_array_equal(result - result[:, :1], money - money[:, :1])
        # Every decision's expected cost falls by the same amount, so none overtakes another.
        falls = rng.dirichlet(np.ones(rows), size=4) @ (money - result)
        np.testing.assert_allclose(falls, falls[:, :1] * np.ones(columns), atol=1e-9)


class TestClassMeans:
    @pytest.mark.parametrize("num_classes", [None, 3])
    def test_loop(self, num_classes):
        labels = np.array([1, 0, 1, 2, 0])
        own = np.random.default_rng(0).uniform(size=(5, 4))
        expected = [own[labels == y].mean(axis=0) for y in range(3)]
        np.testing.assert_allclose(costs.class_means(labels, own, num_classes), expected)


class TestWithAbstain:
    @pytest.mark.parametrize("price", [0.5, [0.5, 1.0, 0.0], np.array(2)])
    def test_adds_a_column(self, price):
        wide = costs.with_abstain(C, price)
        np.testing.assert_array_equal(wide[:, :3], C)
        np.testing.assert_array_equal(wide[:, 3], np.broadcast_to(price, 3))
