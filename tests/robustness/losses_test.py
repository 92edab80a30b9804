"""Functions and classes of `losses` with right and wrong arguments of every kind."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csdl_keras import losses
from tests.robustness import loss_classes_cases, losses_cases
from tests.robustness.outcome import by_name, public_functions
from tests.robustness.properties import (
    check_a_thousand_classes,
    check_arguments,
    check_spoilings,
)

CASES = losses_cases.CASES | loss_classes_cases.CASES
VARIANTS = by_name(CASES)


def test_every_public_function_and_class_is_here():
    assert set(VARIANTS) == set(losses.__all__)


@pytest.mark.parametrize("name", VARIANTS)
class TestRobustness:
    def test_arguments(self, name):
        # Classes call the functions.
        @settings(max_examples=200 if name in public_functions(losses) else 100)
        @given(data=st.data())
        def check(data):
            check_arguments(data.draw(st.sampled_from(VARIANTS[name])), data)

        check()

    def test_a_thousand_classes(self, name):
        for case in VARIANTS[name]:
            check_a_thousand_classes(case)

    def test_spoilings(self, name):
        check_spoilings(VARIANTS[name][0])
