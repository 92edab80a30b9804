"""Tests of logistic regression of costs."""

import numpy as np
import pytest

from csdl_keras.losses import LogisticCostLoss, logistic_cost
from tests.support.testing import TestCase, to_numpy

C = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 0.0], [3.0, 4.0, 0.0]])
LABELS = np.array([0, 2, 1, 2, 0])
COSTS = np.array([[0.0, 1, 0.5], [0.25, 0, 0], [1, 1, 1], [0.1, 0.5, 0.4], [0.7, 0.5, 0]])
SCORES = np.array([[0.5, 1.5, 1], [3, 0, -1], [2, 1, 3], [0, 0, 0], [-2, 4, 0.25]], dtype="float32")


def example_loss(costs, scores):
    """The cross-entropy of each cost and the logistic function of its score."""
    total = 0.0
    for cost, score in zip(costs, scores, strict=True):
        estimate = 1 / (1 + np.exp(-score))
        total -= cost * np.log(estimate) + (1 - cost) * np.log(1 - estimate)
    return total


class TestLogisticCostLoss(TestCase):
    def test_contract_on_cost_vectors(self):
        self.run_loss_test(LogisticCostLoss, COSTS, SCORES, example_loss)

    def test_contract_on_labels(self):
        self.run_loss_test(
            lambda **kwargs: LogisticCostLoss(C, cost_scale=0.2, **kwargs),
            LABELS,
            SCORES,
            lambda label, scores: example_loss(0.2 * C[label], scores),
        )

    @pytest.mark.parametrize("score", [1e4, -1e4])
    def test_large_scores(self, score):
        values = logistic_cost(np.array([[0.25]]), np.array([[score]]))
        self.assertAllClose(values, [max(score, 0.0) - 0.25 * score], rtol=1e-6)

    @pytest.mark.parametrize("wrong", [1.01, 30.0, -0.01, np.nan])
    def test_a_cost_outside_0_to_1_is_nan(self, wrong):
        costs = np.array([[0.5, 1.0], [wrong, 0.0]])
        values = to_numpy(logistic_cost(costs, np.zeros((2, 2))))
        assert np.isnan(values).tolist() == [False, True]

    def test_a_matrix_above_1_is_refused_with_its_scale(self):
        with pytest.raises(ValueError, match="received 5. Pass cost_scale=0.2"):
            LogisticCostLoss(C)
        LogisticCostLoss(C, cost_scale=0.2)

    def test_the_rounding_of_a_scale_is_no_cost_above_1(self):
        matrix = np.array([[0.0, 0.7], [1.3, 0.0]])
        loss = LogisticCostLoss(matrix, cost_scale=1 / 1.3)
        assert np.isfinite(float(loss(np.array([1]), np.array([[0.0, 2.0]]))))
