"""Tests of the SOSR loss: its equation, its size limits, and the bound it is made for."""

import hypothesis
import keras
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from csdl_keras.losses import SOSRLoss, one_sided, sosr
from tests.support.testing import TestCase, to_numpy

C = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 0.0], [3.0, 6.0, 0.0]])
LABELS = np.array([0, 2, 1, 2, 0])
# The third row ties all decisions, the fourth is cheapest at more than zero.
COSTS = np.array([[0.0, 1, 2], [3, 0, 0], [2, 2, 2], [1, 5, 4], [7, 0.5, 0]])
ESTIMATES = np.array(
    [[0.5, 1.5, 1], [3, 0, -1], [2, 1, 3], [0, 0, 0], [-2, 4, 0.25]], dtype="float32"
)


def example_loss(costs, estimates, alpha=1.0):
    """1/alpha * ln(1 + exp(alpha * z * (r - c))), summed over decisions."""
    total = 0.0
    for cost, estimate in zip(costs, estimates, strict=True):
        z = 1.0 if cost == min(costs) else -1.0
        total += np.log(1.0 + np.exp(alpha * z * (estimate - cost))) / alpha
    return total


@st.composite
def costs_and_estimates(draw):
    """Quarters, exact in float32 and often tied, of 8 examples each."""
    shape = (8, draw(st.integers(2, 5)))
    quarters = {
        low: hnp.arrays("float32", shape, elements=st.integers(low, 80).map(lambda i: i / 4))
        for low in (0, -80)
    }
    return draw(quarters[0]), draw(quarters[-80])


class TestSOSRLoss(TestCase):
    def test_contract_on_cost_vectors(self):
        self.run_loss_test(SOSRLoss, COSTS, ESTIMATES, example_loss)

    def test_contract_on_labels(self):
        self.run_loss_test(
            lambda **kwargs: SOSRLoss(C, alpha=2.0, **kwargs),
            LABELS,
            ESTIMATES,
            lambda label, estimates: example_loss(C[label], estimates, 2.0),
        )

    @pytest.mark.parametrize("alpha", [0.01, 0.5, 1, 3.0, 40.0])
    def test_equals_the_loop(self, alpha):
        expected = [example_loss(c, r, alpha) for c, r in zip(COSTS, ESTIMATES, strict=True)]
        self.assertAllClose(sosr(COSTS, ESTIMATES.astype("float64"), alpha), np.array(expected))
        loss = SOSRLoss(C, alpha=alpha)
        expected = [example_loss(C[y], r, alpha) for y, r in zip(LABELS, ESTIMATES, strict=True)]
        self.assertAllClose(loss(LABELS, ESTIMATES), np.mean(expected))

    def test_every_tied_minimum_has_positive_sign(self):
        value = sosr(np.array([[2.0, 2.0, 9.0]]), np.array([[5.0, -1.0, 9.0]]))
        expected = np.log1p(np.exp(3.0)) + np.log1p(np.exp(-3.0)) + np.log(2.0)
        self.assertAllClose(value, [expected])

    @pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0])
    @pytest.mark.parametrize("size", [1e4, -1e4])
    def test_large_scores(self, alpha, size):
        costs = np.array([[0.0, 2.0, 1.0]])
        estimates = np.array([[size, size, -size]])
        gap = np.array([[1.0, -1.0, -1.0]]) * (estimates - costs)
        expected = np.logaddexp(0.0, alpha * gap).sum(axis=1) / alpha
        self.assertAllClose(sosr(costs, estimates, alpha), expected, rtol=1e-6)
        loss = SOSRLoss(alpha=alpha)
        self.assertAllClose(loss(costs, estimates), expected.mean(), rtol=1e-6)
        for dtype in ("float16", "bfloat16"):
            rounded = keras.ops.cast(estimates, dtype)
            self.assertAllClose(loss(costs, rounded), expected.mean(), rtol=1e-2)

    @pytest.mark.parametrize("scores", [(1e4, -1e4), (-1e4, 1e4), (0.5, 1.0)])
    def test_gradient(self, scores):
        """One step of SGD with rate 1 takes the gradient, z * sigmoid(z * (r - c)), off."""
        costs, z = np.array([0.0, 2.0]), np.array([1.0, -1.0])
        scores = np.array(scores)
        model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(2, use_bias=False)])
        model.set_weights([scores[None, :]])
        model.compile(keras.optimizers.SGD(1.0), loss=SOSRLoss())
        model.train_on_batch(np.ones((1, 1)), costs[None, :])
        gradient = z * np.exp(-np.logaddexp(0.0, -z * (scores - costs)))
        self.assertAllClose(model.get_weights()[0][0], scores - gradient, atol=2e-3)

    def test_more_than_two_dimensions(self):
        """The function takes any leading dimensions."""
        values = sosr(np.float32(COSTS[:, None]), ESTIMATES[:, None])
        assert tuple(values.shape) == (5, 1)
        expected = [[example_loss(c, r)] for c, r in zip(COSTS, ESTIMATES, strict=True)]
        self.assertAllClose(values, np.array(expected))

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
    def test_function_computes_in_float32(self, dtype):
        values = sosr(keras.ops.cast(COSTS, dtype), keras.ops.cast(ESTIMATES, dtype))
        assert keras.backend.standardize_dtype(values.dtype) == "float32"

    @pytest.mark.parametrize("alpha", [0, -1.0, np.nan, np.inf, "1", None, True])
    def test_wrong_alpha(self, alpha):
        with pytest.raises(ValueError, match="`alpha`"):
            SOSRLoss(alpha=alpha)
        with pytest.raises(ValueError, match="`alpha`"):
            sosr(COSTS, ESTIMATES, alpha=alpha)

    def test_name(self):
        assert SOSRLoss().name == "sosr_loss"
        assert self.run_config_round_trip(SOSRLoss(name="mine")).name == "mine"


class TestProperties(TestCase):
    @hypothesis.given(costs_and_estimates())
    def test_bounds_what_the_decision_pays(self, pair):
        """c[argmin r] - min c <= sum xi <= sum delta."""
        costs, estimates = pair
        paid = costs[np.arange(len(costs)), estimates.argmin(axis=1)] - costs.min(axis=1)
        hinge, smooth = to_numpy(one_sided(costs, estimates)), to_numpy(sosr(costs, estimates))
        assert np.all(paid <= hinge)
        assert np.all(hinge <= smooth)

    @hypothesis.given(costs_and_estimates(), st.sampled_from([0.5, 1.0, 8.0, 1e3, 1e5]))
    def test_nears_the_one_sided_loss(self, pair, alpha):
        """0 <= delta - xi <= ln(2) / alpha for each decision."""
        costs, estimates = pair
        excess = to_numpy(sosr(costs, estimates, alpha)) - to_numpy(one_sided(costs, estimates))
        assert np.all(excess >= -1e-4)
        assert np.all(excess <= costs.shape[1] * np.log(2.0) / alpha + 1e-4)

    @hypothesis.given(costs_and_estimates(), st.randoms(use_true_random=False))
    def test_order_of_decisions_does_not_matter(self, pair, random):
        costs, estimates = pair
        order = list(range(costs.shape[1]))
        random.shuffle(order)
        self.assertAllClose(sosr(costs[:, order], estimates[:, order]), sosr(costs, estimates))

    @hypothesis.given(costs_and_estimates(), st.integers(-200, 200))
    def test_shift_of_costs_and_estimates(self, pair, shift):
        costs, estimates = pair
        shifted = sosr(costs + np.float32(shift), estimates + np.float32(shift))
        self.assertAllClose(shifted, sosr(costs, estimates))

    @hypothesis.given(costs_and_estimates(), st.sampled_from([0.25, 2.0, 16.0]))
    def test_unit_of_costs(self, pair, unit):
        """sosr(u c, u r, alpha) = u * sosr(c, r, u * alpha)."""
        costs, estimates = pair
        scaled = sosr(costs * np.float32(unit), estimates * np.float32(unit), 1.0)
        self.assertAllClose(scaled, to_numpy(sosr(costs, estimates, unit)) * unit, rtol=1e-4)
