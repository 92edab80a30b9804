"""Tests of Poisson regression of costs."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from csdl_keras.losses import PoissonCostLoss, poisson_cost
from tests.support.testing import TestCase, to_numpy

C = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 0.0], [3.0, 6.0, 0.0]])
LABELS = np.array([0, 2, 1, 2, 0])
COSTS = np.array([[0.0, 1, 2], [3, 0, 0], [2, 2, 2], [1, 5, 4], [7, 0.5, 0]])
SCORES = np.array([[0.5, 1.5, 1], [3, 0, -1], [2, 1, 3], [0, 0, 0], [-2, 4, 0.25]], dtype="float32")


def example_loss(costs, scores):
    """exp(u) - c u + c ln c - c, summed over decisions."""
    total = 0.0
    for cost, score in zip(costs, scores, strict=True):
        own = cost * np.log(cost) if cost > 0 else 0.0
        total += np.exp(score) - cost * score + own - cost
    return total


quarters = hnp.arrays("float32", (4, 3), elements=st.integers(0, 40).map(lambda i: i / 4))
scores = hnp.arrays("float32", (4, 3), elements=st.floats(-8, 8, width=32))


class TestPoissonCostLoss(TestCase):
    def test_contract_on_cost_vectors(self):
        self.run_loss_test(PoissonCostLoss, COSTS, SCORES, example_loss)

    def test_contract_on_labels(self):
        self.run_loss_test(
            lambda **kwargs: PoissonCostLoss(C, cost_scale=0.5, **kwargs),
            LABELS,
            SCORES,
            lambda label, scores: example_loss(0.5 * C[label], scores),
        )

    def test_a_decision_that_is_no_class(self):
        matrix = np.hstack([C, np.full((3, 1), 0.7)])
        outputs = np.hstack([SCORES, SCORES[:, :1]])
        expected = [example_loss(matrix[y], r) for y, r in zip(LABELS, outputs, strict=True)]
        self.assertAllClose(PoissonCostLoss(matrix)(LABELS, outputs), np.mean(expected))

    @hypothesis.given(quarters, scores)
    def test_is_not_negative(self, costs, scores):
        assert np.all(to_numpy(poisson_cost(costs, scores)) >= -1e-4)

    @hypothesis.given(quarters)
    def test_is_zero_at_the_costs(self, costs):
        costs = costs + np.float32(0.25)
        self.assertAllClose(poisson_cost(costs, np.log(costs)), np.zeros(4), atol=1e-4)

    def test_shapes_must_agree(self):
        with pytest.raises(ValueError, match="one estimate for each decision"):
            poisson_cost(COSTS, SCORES[:, :2])
