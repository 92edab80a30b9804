"""Functions of `costs` with right and wrong arguments of every kind."""

from csdl_keras import costs
from tests.robustness import binary_cases, costs_cases
from tests.robustness.outcome import public_functions
from tests.robustness.properties import container_tests, many_classes_tests, robustness_tests

CASES = costs_cases.CASES | binary_cases.CASES


def test_every_public_function_is_here():
    assert {name.partition(",")[0] for name in CASES} == public_functions(costs)


TestRobustness = robustness_tests(CASES)
test_containers = container_tests(CASES)
test_a_thousand_classes = many_classes_tests(CASES)
