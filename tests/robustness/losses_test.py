"""Functions and classes of `losses` with right and wrong arguments of every kind."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csdl_keras import losses
from tests.robustness import loss_classes_cases, losses_cases
from tests.robustness.properties import (
    check_a_thousand_classes,
    check_anything,
    check_containers,
    check_spoilings,
)

CASES = losses_cases.CASES | loss_classes_cases.CASES


def test_every_public_function_and_class_is_here():
    assert {name.partition(",")[0] for name in CASES} == set(losses.__all__)


@pytest.mark.parametrize("name", CASES)
class TestRobustness:
    @settings(max_examples=200)
    @given(data=st.data())
    def test_containers(self, name, data):
        check_containers(CASES[name], data)

    @settings(max_examples=200)
    @given(data=st.data())
    def test_anything(self, name, data):
        check_anything(CASES[name], data)

    def test_a_thousand_classes(self, name):
        check_a_thousand_classes(CASES[name])

    def test_spoilings(self, name):
        check_spoilings(CASES[name])
