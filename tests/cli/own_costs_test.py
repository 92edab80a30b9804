"""Columns of costs, matched to the labels by name or by place."""

import numpy as np
import pytest

from csdl_keras_cli.cost_file import costs_of_columns

LABELS = ("hi", "lo", "mid")
Y = np.array([0, 0, 1, 2])
COSTS = np.array([[0.0, 3, 2, 1], [0, 5, 4, 1], [6, 0, 1, 1], [9, 8, 0, 1]])


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [2, 1, 0, 3], [3, 2, 0, 1]])
def test_columns_named_like_labels_are_found_by_name(order):
    names = [(*LABELS, "ask")[column] for column in order]
    costs, decisions = costs_of_columns(COSTS[:, order], names, LABELS, Y)
    np.testing.assert_array_equal(costs, COSTS)
    assert decisions == (*LABELS, "ask")


def test_other_names_are_taken_in_the_order_of_labels():
    costs, decisions = costs_of_columns(COSTS, ["a", "lo", "b", "ask"], LABELS, Y)
    np.testing.assert_array_equal(costs, COSTS)
    assert decisions == (*LABELS, "ask")


def test_a_right_decision_that_is_not_the_cheapest_is_refused():
    names = ["cost_mid", "cost_lo", "cost_hi"]
    with pytest.raises(
        ValueError,
        match="order of the labels, hi, lo, mid.*label 'hi', whose column is 'cost_mid', the mean "
        "costs cost_mid 3, cost_lo 4, cost_hi 0",
    ):
        costs_of_columns(COSTS[:, [2, 1, 0]], names, LABELS, Y)


def test_decisions_that_are_no_label_may_be_cheaper():
    costs, _ = costs_of_columns(COSTS + [2.0, 2, 2, 0], [*"abc", "ask"], LABELS, Y)
    assert (costs[0] == [2, 5, 4, 1]).all()


def test_gains_are_counted_from_the_best_decision():
    costs, _ = costs_of_columns(COSTS - 4, [*"abc", "ask"], LABELS, Y)
    np.testing.assert_array_equal(costs, COSTS)
