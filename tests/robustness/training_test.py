"""What trains, with right and wrong arguments of every kind: all refused before it begins."""

import json

import numpy as np
import pytest

import csdl_keras as csdl
from tests.robustness import pretraining_cases, training_cases
from tests.robustness.no_training import no_training
from tests.robustness.outcome import outcome
from tests.robustness.properties import container_tests, robustness_tests
from tests.robustness.spoiled import JUNK, SCALARS
from tests.robustness.training_cases import is_setting, settings_with
from tests.support.changes import setting_names

CASES = training_cases.CASES | pretraining_cases.CASES


@pytest.fixture(autouse=True, scope="module")
def nothing_trains():
    with no_training():
        yield


TestRobustness = robustness_tests(CASES)
test_containers = container_tests(CASES, 50)


@pytest.mark.parametrize("name", [*setting_names(csdl.Settings())])
def test_settings(name):
    """Each choice as everything that it may be; what is taken is fit for JSON."""
    for value in [*SCALARS, *JUNK, [7, 2], (np.int64(3),), "adam", "full", np.float32(0.25)]:
        result = outcome(settings_with, name, value)
        assert isinstance(result, dict) == is_setting(name, value), (value, result)
        if isinstance(result, dict):
            json.dumps(result)
