"""Tests of MIN's loss, squared errors weighted by costs."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from csdl_keras.losses import MINLoss, min_loss
from tests.support import loss_loops as loops
from tests.support.testing import TestCase, to_numpy

COSTS = np.array([[0.0, 1, 2], [3, 0, 0], [2, 2, 2], [1, 5, 4], [7, 0.5, 0]])
OUTPUTS = np.random.default_rng(0).dirichlet(np.ones(3), size=5).astype("float32")
PRIORS = np.array([0.2, 0.7, 0.1])
NO_PRIORS = {
    "`priors` with an entry for each of 3 classes": [0.5, 0.5],
    "several classes above 0": [1.0, 0.0, 0.0],
    "at least 0": [1.5, -0.5, 0.0],
}


class TestMINLoss(TestCase):
    def test_priors_of_cost_vectors(self):
        expected = loops.minimized(COSTS, OUTPUTS, PRIORS)
        for priors in (PRIORS, 30 * PRIORS):
            self.assertAllClose(min_loss(COSTS, OUTPUTS, priors), expected)

    @pytest.mark.parametrize("message", NO_PRIORS)
    def test_wrong_priors(self, message):
        with pytest.raises(ValueError, match=message):
            MINLoss(1.0 - np.eye(3), NO_PRIORS[message])

    @hypothesis.settings(max_examples=30)
    @hypothesis.given(
        hnp.arrays("float32", (6, 4), elements=st.integers(0, 12).map(lambda i: i / 4)),
        hnp.arrays("float32", (6, 4), elements=st.integers(0, 8).map(lambda i: i / 8)),
        st.integers(0, 3),
        st.sampled_from([0.25, 2.0, 1024.0]),
    )
    def test_properties(self, costs, outputs, label, unit):
        """Not negative, 0 for right outputs, and it grows with the square of the unit."""
        costs[:, :label] += 0.25
        costs[:, label] = 0
        right = np.eye(4, dtype="float32")[[label] * 6]
        values = to_numpy(min_loss(costs, outputs))
        assert np.all(values >= 0)
        np.testing.assert_array_equal(to_numpy(min_loss(costs, right)), 0.0)
        scaled = min_loss(np.float32(unit) * costs, outputs)
        self.assertAllClose(scaled, unit**2 * values)
