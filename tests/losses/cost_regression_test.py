"""Tests of Poisson and logistic regression of costs."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from csdl_keras.losses import (
    LogisticCostLoss,
    ObservedCostLoss,
    PoissonCostLoss,
    logistic_cost,
    poisson_cost,
)
from tests.support import loss_loops as loops
from tests.support.testing import TestCase, to_numpy

C = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 0.0], [3.0, 4.0, 0.0]])
LABELS = np.array([0, 2, 1])
QUARTERS = hnp.arrays("float32", (4, 3), elements=st.integers(0, 40).map(lambda i: i / 4))
SCORES = hnp.arrays("float32", (4, 3), elements=st.floats(-8, 8, width=32))


@pytest.mark.parametrize(
    ("loss", "loop"), [(PoissonCostLoss, loops.poisson), (LogisticCostLoss, loops.logistic)]
)
def test_a_decision_that_is_no_class(loss, loop):
    matrix = np.hstack([C / 5, np.full((3, 1), 0.7)])
    outputs = np.random.default_rng(0).normal(size=(3, 4)).astype("float32")
    found = loss(matrix, reduction=None)(LABELS, outputs)
    np.testing.assert_allclose(to_numpy(found), loop(matrix[LABELS], outputs), rtol=1e-5)


class TestPoisson(TestCase):
    @hypothesis.settings(max_examples=30)
    @hypothesis.given(QUARTERS, SCORES)
    def test_is_not_negative_and_zero_at_the_costs(self, costs, scores):
        assert np.all(to_numpy(poisson_cost(costs, scores)) >= -1e-4)
        costs = costs + np.float32(0.25)
        self.assertAllClose(poisson_cost(costs, np.log(costs)), np.zeros(4), atol=1e-4)


class TestObserved(TestCase):
    @pytest.mark.parametrize("label", [-1, 3, 0.5])
    def test_a_label_that_is_no_class_is_nan(self, label):
        targets = np.array([[label, 1.0, 1.0], [0, 1.0, 1.0]])
        values = to_numpy(ObservedCostLoss(reduction=None)(targets, np.zeros((2, 3, 2))))
        assert np.isnan(values).tolist() == [True, False]


class TestLogistic(TestCase):
    @pytest.mark.parametrize("score", [1e4, -1e4])
    def test_large_scores(self, score):
        values = logistic_cost(np.array([[0.25]]), np.array([[score]]))
        self.assertAllClose(values, [max(score, 0.0) - 0.25 * score], rtol=1e-6)

    @pytest.mark.parametrize("wrong", [1.01, -0.01, np.nan])
    def test_a_cost_outside_0_to_1_is_nan(self, wrong):
        costs = np.array([[0.5, 1.0], [wrong, 0.0]])
        values = to_numpy(logistic_cost(costs, np.zeros((2, 2))))
        assert np.isnan(values).tolist() == [False, True]

    def test_a_matrix_above_1_is_refused_with_its_scale(self):
        with pytest.raises(ValueError, match="received 5. Pass cost_scale=0.2"):
            LogisticCostLoss(C)

    def test_the_rounding_of_a_scale_is_no_cost_above_1(self):
        loss = LogisticCostLoss([[0.0, 0.7], [1.3, 0.0]], cost_scale=1 / 1.3)
        assert np.isfinite(float(loss(np.array([1]), np.array([[0.0, 2.0]]))))
