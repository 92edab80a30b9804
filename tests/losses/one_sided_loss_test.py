"""Tests of the one-sided loss, the hinge under SOSR."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from csdl_keras.losses import OneSidedLoss, one_sided
from tests.support.testing import TestCase, to_numpy

C = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 0.0], [3.0, 6.0, 0.0]])
LABELS = np.array([0, 2, 1, 2, 0])
COSTS = np.array([[0.0, 1, 2], [3, 0, 0], [2, 2, 2], [1, 5, 4], [7, 0.5, 0]])
ESTIMATES = np.array(
    [[0.5, 1.5, 1], [3, 0, -1], [2, 1, 3], [0, 0, 0], [-2, 4, 0.25]], dtype="float32"
)
FEW = st.integers(0, 12).map(lambda i: i / 4)
TABLES = hnp.arrays("float32", (8, 4), elements=FEW)


def example_loss(costs, estimates):
    """max(z * (r - c), 0), summed over decisions."""
    total = 0.0
    for cost, estimate in zip(costs, estimates, strict=True):
        z = 1.0 if cost == min(costs) else -1.0
        total += max(z * (estimate - cost), 0.0)
    return total


class TestOneSidedLoss(TestCase):
    def test_contract(self):
        self.run_loss_test(OneSidedLoss, COSTS, ESTIMATES, example_loss)

    def test_labels_equal_the_loop(self):
        expected = [example_loss(C[y], r) for y, r in zip(LABELS, ESTIMATES, strict=True)]
        loss = self.run_config_round_trip(OneSidedLoss(C, reduction=None))
        self.assertAllClose(loss(LABELS, ESTIMATES), np.array(expected))

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
    def test_sides(self, costs, estimates, expected):
        value = one_sided(np.array([costs], "float32"), np.array([estimates], "float32"))
        self.assertAllClose(value, [expected])

    def test_name(self):
        assert OneSidedLoss().name == "one_sided_loss"
        assert self.run_config_round_trip(OneSidedLoss(name="mine")).name == "mine"


class TestProperties(TestCase):
    @hypothesis.given(TABLES, TABLES)
    def test_bounds_what_the_decision_pays(self, costs, estimates):
        paid = costs[np.arange(len(costs)), estimates.argmin(axis=1)] - costs.min(axis=1)
        assert np.all(paid <= to_numpy(one_sided(costs, estimates)))

    @hypothesis.given(TABLES)
    def test_true_costs_have_no_loss(self, costs):
        np.testing.assert_array_equal(to_numpy(one_sided(costs, costs)), 0.0)

    @hypothesis.given(TABLES, TABLES, st.integers(-40, 40), st.sampled_from([0.25, 2.0, 8.0]))
    def test_shift_and_unit(self, costs, estimates, shift, unit):
        """Binary fractions keep every sum exact."""
        unit, shift = np.float32(unit), np.float32(shift)
        moved = one_sided(unit * costs + shift, unit * estimates + shift)
        np.testing.assert_array_equal(to_numpy(moved), unit * to_numpy(one_sided(costs, estimates)))

    @hypothesis.given(TABLES, TABLES, st.permutations(range(4)))
    def test_order_of_decisions_does_not_matter(self, costs, estimates, order):
        moved = one_sided(costs[:, order], estimates[:, order])
        np.testing.assert_array_equal(to_numpy(moved), to_numpy(one_sided(costs, estimates)))
