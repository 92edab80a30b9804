"""Functions of `evaluation` with right and wrong arguments of every kind."""

from csdl_keras import evaluation
from tests.robustness import calibration_cases, evaluation_cases
from tests.robustness.outcome import public_functions
from tests.robustness.properties import container_tests, many_classes_tests, robustness_tests

CASES = evaluation_cases.CASES | calibration_cases.CASES


def test_every_public_function_is_here():
    assert {name.partition(",")[0] for name in CASES} == public_functions(evaluation)


TestRobustness = robustness_tests(CASES)
test_containers = container_tests(CASES)
test_a_thousand_classes = many_classes_tests(CASES)
