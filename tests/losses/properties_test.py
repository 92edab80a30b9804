"""Bounds, limits and wrong values of each loss, beyond the values of the contract."""

import hypothesis
import keras
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from csdl_keras import losses
from csdl_keras.losses import LogisticCostLoss, MINLoss, ObservedCostLoss, PoissonCostLoss, SOSRLoss
from tests.support import loss_loops as loops
from tests.support.gradients import gradient
from tests.support.testing import TestCase, floatx, to_numpy

C = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 0.0], [3.0, 4.0, 0.0]])
LABELS = np.array([0, 2, 1])
PRIORS = np.array([0.2, 0.7, 0.1])
QUARTERS = hnp.arrays("float32", (6, 4), elements=st.integers(0, 80).map(lambda i: i / 4))
SCORES = hnp.arrays("float32", (6, 4), elements=st.floats(-8, 8, width=32))
TIED = np.float32([[0.0, 1, 2], [3, 0, 0], [2, 2, 2], [1, 5, 4], [7, 0.5, 0]])
ESTIMATES = np.float32([[0.5, 1.5, 1], [3, 0, -1], [2, 1, 3], [0, 0, 0], [-2, 4, 0.25]])


class TestSOSR(TestCase):
    @pytest.mark.parametrize("alpha", [1.0, 3.0])
    @pytest.mark.parametrize("size", [1e4, -1e4])
    def test_large_scores(self, alpha, size):
        costs, estimates = np.float32([[0.0, 2.0, 1.0]]), np.array([[size, size, -size]])
        expected = loops.smooth(costs, estimates, alpha)
        self.assertAllClose(losses.sosr(costs, estimates, alpha), expected, rtol=1e-6)
        rounded = losses.sosr(costs, keras.ops.cast(estimates, "float16"), alpha)
        assert keras.backend.standardize_dtype(rounded.dtype) == "float32"
        self.assertAllClose(rounded, expected, rtol=1e-2)

    @pytest.mark.parametrize("scores", [(1e4, -1e4), (-1e4, 1e4), (0.5, 1.0)])
    def test_gradient(self, scores):
        costs, z, scores = np.array([[0.0, 2.0]]), np.array([1.0, -1.0]), np.float32([scores])
        found = gradient(lambda r: keras.ops.sum(losses.sosr(costs, r)), scores)
        expected = z * np.exp(-np.logaddexp(0.0, -z * (scores - costs)))
        self.assertAllClose(found, expected, atol=2e-3)

    @pytest.mark.parametrize("alpha", [0, np.inf])
    def test_wrong_alpha(self, alpha):
        with pytest.raises(ValueError, match="`alpha`"):
            SOSRLoss(alpha=alpha)

    @hypothesis.settings(max_examples=30)
    @hypothesis.given(QUARTERS, QUARTERS, st.sampled_from([0.5, 1.0, 8.0, 1e3, 1e5]))
    def test_bounds(self, costs, estimates, alpha):
        """c[argmin r] - min c <= sum xi <= sum delta <= sum xi + D ln(2) / alpha."""
        paid = costs[np.arange(len(costs)), estimates.argmin(axis=1)] - costs.min(axis=1)
        hinge = to_numpy(losses.one_sided(costs, estimates))
        assert np.all(paid <= hinge)
        excess = to_numpy(losses.sosr(costs, estimates, alpha)) - hinge
        assert np.all(excess >= -1e-4)
        assert np.all(excess <= costs.shape[1] * np.log(2.0) / alpha + 1e-4)
        np.testing.assert_array_equal(to_numpy(losses.one_sided(costs, costs)), 0.0)


class TestMIN(TestCase):
    def test_priors_of_cost_vectors(self):
        outputs = np.random.default_rng(0).dirichlet(np.ones(3), size=5).astype("float32")
        for priors in (PRIORS, 30 * PRIORS):
            found = losses.min_loss(TIED, outputs, priors)
            self.assertAllClose(found, loops.minimized(TIED, outputs, PRIORS))

    def test_wrong_priors(self):
        with pytest.raises(ValueError, match="frequencies of 3 classes"):
            MINLoss(1.0 - np.eye(3), [0.5, 0.5])(np.array([0]), np.ones((1, 3)) / 3)

    @hypothesis.settings(max_examples=20)
    @hypothesis.given(QUARTERS, SCORES, st.integers(0, 3), st.sampled_from([0.25, 1024.0]))
    def test_not_negative_0_for_right_outputs_and_square_in_the_unit(self, costs, r, label, unit):
        costs[:, :label] += 0.25
        costs[:, label] = 0
        right = np.eye(4, dtype="float32")[[label] * 6]
        values = to_numpy(losses.min_loss(costs, r))
        assert np.all(values >= 0)
        np.testing.assert_array_equal(to_numpy(losses.min_loss(costs, right)), 0.0)
        scaled = losses.min_loss(np.float32(unit) * costs, r)
        self.assertAllClose(scaled, unit**2 * values, rtol=1e-4)


class TestRegressions(TestCase):
    @pytest.mark.parametrize(
        ("loss", "loop"), [(PoissonCostLoss, loops.poisson), (LogisticCostLoss, loops.logistic)]
    )
    def test_a_decision_that_is_no_class(self, loss, loop):
        matrix = np.hstack([C / 5, np.full((3, 1), 0.7)])
        outputs = np.random.default_rng(0).normal(size=(3, 4)).astype("float32")
        found = loss(matrix, reduction=None)(LABELS, outputs)
        self.assertAllClose(found, loop(matrix[LABELS], outputs))

    @hypothesis.settings(max_examples=30)
    @hypothesis.given(QUARTERS, SCORES)
    def test_poisson_is_not_negative_and_zero_at_the_costs(self, costs, scores):
        assert np.all(to_numpy(losses.poisson_cost(costs, scores)) >= -1e-4)
        costs = costs + np.float32(0.25)
        self.assertAllClose(losses.poisson_cost(costs, np.log(costs)), np.zeros(6), atol=1e-4)

    @pytest.mark.parametrize("label", [-1, 3, 0.5])
    def test_a_label_that_is_no_class_is_nan(self, label):
        targets = np.array([[label, 1.0, 1.0], [0, 1.0, 1.0]])
        values = to_numpy(ObservedCostLoss(reduction=None)(targets, np.zeros((2, 3, 2))))
        assert np.isnan(values).tolist() == [True, False]

    def test_logistic_at_the_ends(self):
        for score in (1e4, -1e4):
            values = losses.logistic_cost(np.array([[0.25]]), np.array([[score]]))
            self.assertAllClose(values, [max(score, 0.0) - 0.25 * score], rtol=1e-6)
        for wrong in (1.01, -0.01, np.nan):
            values = losses.logistic_cost(np.array([[0.5, 1.0], [wrong, 0.0]]), np.zeros((2, 2)))
            assert np.isnan(to_numpy(values)).tolist() == [False, True]

    def test_a_matrix_above_1_is_refused_with_its_scale(self):
        with pytest.raises(ValueError, match="is 5 after .* Pass cost_scale=0.2"):
            LogisticCostLoss(C)
        # The rounding of a scale is no cost above 1.
        loss = LogisticCostLoss([[0.0, 0.7], [1.3, 0.0]], cost_scale=1 / 1.3)
        assert np.isfinite(float(loss(np.array([1]), np.array([[0.0, 2.0]]))))


class TestReconstruction(TestCase):
    @pytest.mark.parametrize("size", [1e4, -1e4])
    def test_large_logits(self, size):
        x = np.array([[0.0], [0.3], [1.0]])
        expected = np.logaddexp(0.0, size) - x[:, 0] * size
        value = losses.reconstruction(x, np.full((3, 1), size), from_logits=True)
        self.assertAllClose(value, expected, rtol=1e-6)

    @pytest.mark.parametrize("dtype", ["float32", "float16"])
    def test_probabilities_of_zero_and_one(self, dtype):
        inputs = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]])
        outputs = keras.ops.cast(np.array([[0.0, 1.0]] * 3), dtype)
        worst = -2 * np.log(keras.config.epsilon())
        # In float32, 1 - epsilon is off by a tenth of epsilon or so.
        values = losses.ReconstructionLoss(reduction=None)(inputs, outputs)
        self.assertAllClose(values, [0.0, worst, worst / 2], rtol=0.02)

    def test_sums_beyond_float16(self):
        with floatx("float16"):
            outputs = keras.ops.cast(np.full((2, 3), 1000.0), "float16")
            self.assertAllClose(losses.SquaredErrorLoss()(np.zeros((2, 3)), outputs), 3e6)
            costs = np.array([[0.0, 6e4, 6e4, 6e4]] * 2)
            zeros = keras.ops.zeros((2, 4), dtype="float16")
            self.assertAllClose(SOSRLoss()(costs, zeros), 180000.0, rtol=1e-5)
            self.assertAllClose(MINLoss()(costs, zeros), 1.8e9, rtol=1e-5)
