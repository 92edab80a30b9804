"""Tests of conversions of costs, and of what regret leaves unchanged."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from csdl_keras import costs

C = [[0.0, 1.0, 2.0], [5.0, 0.0, 4.0], [3.0, 6.0, 0.0]]

# Two-dimensional arrays of whole numbers: exact in floats, and often tied.
tables = hnp.arrays(
    "float64",
    st.tuples(st.integers(1, 6), st.integers(2, 6)),
    elements=st.integers(-100, 100).map(float),
)


class TestCostVectors:
    def test_cost_vectors(self):
        labels = [2, 0, 0, 1]
        np.testing.assert_array_equal(costs.cost_vectors(C, labels), [C[y] for y in labels])
        wide = [[0.0, 1.0, 0.5], [2.0, 0.0, 0.5]]
        np.testing.assert_array_equal(costs.cost_vectors(wide, [1]), [wide[1]])

    @pytest.mark.parametrize(("matrix", "labels"), [(C, [3]), (C, [-1]), ([[1, 0], [0, 1]], [0])])
    def test_cost_vectors_errors(self, matrix, labels):
        with pytest.raises(ValueError, match="received"):
            costs.cost_vectors(matrix, labels)


class TestRegret:
    @hypothesis.given(tables)
    def test_row_minima_are_zero_and_cheapest_decisions_stay(self, money):
        before = money.copy()
        result = costs.regret(money)
        np.testing.assert_array_equal(money, before)
        np.testing.assert_array_equal(result.min(axis=1), 0.0)
        np.testing.assert_array_equal(result.argmin(axis=1), money.argmin(axis=1))
        np.testing.assert_array_equal(result - result[:, :1], money - money[:, :1])

    @hypothesis.given(tables, st.integers(0, 2**32 - 1))
    def test_bayes_decision_stays(self, money, seed):
        """Every decision's expected cost falls by the same amount, so none overtakes another."""
        probabilities = np.random.default_rng(seed).dirichlet(np.ones(len(money)), size=4)
        fall = probabilities @ money - probabilities @ costs.regret(money)
        np.testing.assert_allclose(fall, fall[:, :1] * np.ones(money.shape[1]), atol=1e-9)
        decided = (probabilities @ costs.regret(money)).argmin(axis=1)
        expected = probabilities @ money
        paid = expected[np.arange(4), decided]
        np.testing.assert_allclose(paid, expected.min(axis=1), atol=1e-9)

    def test_money_becomes_a_cost_matrix(self):
        matrix = costs.check_cost_matrix(costs.regret([[-3, 10], [40, -2]]))
        np.testing.assert_array_equal(matrix, [[0.0, 13.0], [42.0, 0.0]])

    @pytest.mark.parametrize("wrong", [[1.0, 2.0], [[np.nan, 1.0]], [["a", "b"]], [[True, False]]])
    def test_errors(self, wrong):
        with pytest.raises(ValueError, match="received"):
            costs.regret(wrong)


class TestClassMeans:
    def test_loop(self):
        labels = np.array([1, 0, 1, 2, 0])
        own = np.random.default_rng(0).uniform(size=(5, 4))
        expected = [np.mean([own[n] for n in range(5) if labels[n] == y], axis=0) for y in range(3)]
        np.testing.assert_allclose(costs.class_means(labels, own), expected)

    @pytest.mark.parametrize(
        ("labels", "num_classes", "message"),
        [
            ([0, 2], None, r"3 classes.*none of class\(es\) \[1\]"),
            ([0, 1], 3, r"3 classes.*none of class\(es\) \[2\]"),
            ([0, 10**15], None, r"none of class\(es\) \[1, 2\]"),
            ([0, 1, 1], None, "each of 3 labels; received shape .2, 2."),
            ([0, 1], 1, "below 1"),
            ([0, 0], 0, "`num_classes`"),
        ],
    )
    def test_errors(self, labels, num_classes, message):
        with pytest.raises(ValueError, match=message):
            costs.class_means(labels, [[0.0, 1.0], [1.0, 0.0]], num_classes)


class TestWithAbstain:
    @pytest.mark.parametrize("price", [0.5, 2, [0.5, 1.0, 0.0], np.array(0.5)])
    def test_adds_a_column(self, price):
        wide = costs.with_abstain(C, price)
        np.testing.assert_array_equal(wide[:, :3], C)
        np.testing.assert_array_equal(wide[:, 3], np.broadcast_to(price, 3))

    @pytest.mark.parametrize(
        "price", [-1.0, [0.5, -1.0, 0.0], [0.5], [[0.5], [1, 2]], None, "a", True, np.nan]
    )
    def test_errors(self, price):
        with pytest.raises(ValueError, match="^Expected .*`price`"):
            costs.with_abstain(C, price)
