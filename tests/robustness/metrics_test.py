"""Metrics with right and wrong arguments of every kind."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csdl_keras import metrics
from tests.robustness.metrics_cases import CASES
from tests.robustness.outcome import by_name
from tests.robustness.properties import (
    check_a_thousand_classes,
    check_arguments,
    check_spoilings,
)

VARIANTS = by_name(CASES)


def test_every_public_class_is_here():
    assert set(VARIANTS) == set(metrics.__all__)


@pytest.mark.parametrize("name", VARIANTS)
class TestRobustness:
    @settings(max_examples=200)
    @given(data=st.data())
    def test_arguments(self, name, data):
        check_arguments(data.draw(st.sampled_from(VARIANTS[name])), data)

    def test_a_thousand_classes(self, name):
        for case in VARIANTS[name]:
            check_a_thousand_classes(case)

    def test_spoilings(self, name):
        check_spoilings(VARIANTS[name][0])


@pytest.mark.parametrize(
    "wrong",
    [
        (np.ones((2, 4)), np.ones((2, 4)), None),
        (np.ones((2, 3)), np.ones((2, 4)), None),
        (np.ones((2, 3)), np.ones((1, 3)), None),
        (np.ones((2, 3)), np.ones((2, 3)), np.ones(3)),
    ],
)
def test_what_is_refused_is_not_added(wrong):
    metric = metrics.Savings(num_decisions=3)
    right = np.array([[0.0, 4, 4], [4, 0, 4]]), np.array([[0.0, 1, 1], [0, 1, 1]])
    metric.update_state(*right)
    with pytest.raises(ValueError, match="^Expected"):
        metric.update_state(*wrong)
    assert float(metric.result()) == 0.0


def test_a_weight_for_each_example_of_a_class():
    metric = metrics.AverageCost(1 - np.eye(2), class_id=0)
    with pytest.raises(ValueError, match=r"^Expected `sample_weight` of shape \(3,\); received"):
        metric.update_state([0, 1, 0], np.ones((3, 2)), np.ones(1))
