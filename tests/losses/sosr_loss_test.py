"""Tests of the SOSR loss and the one-sided loss under it: size limits and the bounds they keep."""

import hypothesis
import keras
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from csdl_keras.losses import SOSRLoss, one_sided, sosr
from tests.support import loss_loops as loops
from tests.support.gradients import gradient
from tests.support.testing import TestCase, to_numpy

# The third row ties all decisions, the fourth is cheapest at more than zero.
COSTS = np.float32([[0.0, 1, 2], [3, 0, 0], [2, 2, 2], [1, 5, 4], [7, 0.5, 0]])
ESTIMATES = np.float32([[0.5, 1.5, 1], [3, 0, -1], [2, 1, 3], [0, 0, 0], [-2, 4, 0.25]])


@st.composite
def costs_and_estimates(draw):
    """Quarters, exact in float32 and often tied, of 8 examples each."""
    shape = (8, draw(st.integers(2, 5)))
    quarters = {
        low: hnp.arrays("float32", shape, elements=st.integers(low, 80).map(lambda i: i / 4))
        for low in (0, -80)
    }
    return draw(quarters[0]), draw(quarters[-80])


class TestSOSR(TestCase):
    @pytest.mark.parametrize("alpha", [0.01, 40.0])
    def test_equals_the_loop_also_in_more_dimensions(self, alpha):
        expected = loops.smooth(COSTS, ESTIMATES, alpha)
        self.assertAllClose(sosr(COSTS[:, None], ESTIMATES[:, None], alpha), expected[:, None])

    @pytest.mark.parametrize("alpha", [1.0, 3.0])
    @pytest.mark.parametrize("size", [1e4, -1e4])
    def test_large_scores(self, alpha, size):
        costs, estimates = np.float32([[0.0, 2.0, 1.0]]), np.array([[size, size, -size]])
        expected = loops.smooth(costs, estimates, alpha)
        self.assertAllClose(sosr(costs, estimates, alpha), expected, rtol=1e-6)
        for dtype in ("float16", "bfloat16"):
            rounded = sosr(costs, keras.ops.cast(estimates, dtype), alpha)
            assert keras.backend.standardize_dtype(rounded.dtype) == "float32"
            self.assertAllClose(rounded, expected, rtol=1e-2)

    @pytest.mark.parametrize("scores", [(1e4, -1e4), (-1e4, 1e4), (0.5, 1.0)])
    def test_gradient(self, scores):
        costs, z, scores = np.array([[0.0, 2.0]]), np.array([1.0, -1.0]), np.float32([scores])
        found = gradient(lambda r: keras.ops.sum(sosr(costs, r)), scores)
        expected = z * np.exp(-np.logaddexp(0.0, -z * (scores - costs)))
        self.assertAllClose(found, expected, atol=2e-3)

    @pytest.mark.parametrize("alpha", [0, np.inf])
    def test_wrong_alpha(self, alpha):
        with pytest.raises(ValueError, match="`alpha`"):
            SOSRLoss(alpha=alpha)


@pytest.mark.parametrize(
    ("costs", "estimates", "expected"),
    [
        ([0, 2], [-5, 7], 0.0),  # the cheapest too low, the other too high: no loss
        ([0, 2], [3, 7], 3.0),  # the cheapest too high
        ([0, 2], [-5, 0.5], 1.5),  # the other too low
        ([2, 2], [3, 4], 3.0),  # both cheapest, both too high
        ([2, 2], [1, 0], 0.0),  # both cheapest, both too low
        ([0, 2], [1e4, -1e4], 20002.0),
    ],
)
def test_sides_of_the_one_sided_loss(costs, estimates, expected):
    assert to_numpy(one_sided(np.float32([costs]), np.float32([estimates]))) == expected


class TestProperties(TestCase):
    @hypothesis.settings(max_examples=30)
    @hypothesis.given(costs_and_estimates(), st.sampled_from([0.5, 1.0, 8.0, 1e3, 1e5]))
    def test_bounds(self, pair, alpha):
        """c[argmin r] - min c <= sum xi <= sum delta <= sum xi + D ln(2) / alpha."""
        costs, estimates = pair
        paid = costs[np.arange(len(costs)), estimates.argmin(axis=1)] - costs.min(axis=1)
        hinge = to_numpy(one_sided(costs, estimates))
        assert np.all(paid <= hinge)
        excess = to_numpy(sosr(costs, estimates, alpha)) - hinge
        assert np.all(excess >= -1e-4)
        assert np.all(excess <= costs.shape[1] * np.log(2.0) / alpha + 1e-4)
        np.testing.assert_array_equal(to_numpy(one_sided(costs, costs)), 0.0)
