"""What goes into `fit` or comes after it, with right and wrong arguments of every kind."""

import importlib

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csdl_keras.models import BayesClassifier
from tests.robustness import fit_cases, trained_cases
from tests.robustness.containers import CONTAINERS
from tests.robustness.no_training import no_training
from tests.robustness.properties import check_containers, robustness_tests

CASES = fit_cases.CASES | trained_cases.CASES
# A list is a structure of arrays to Keras.
HELD = set(CONTAINERS) - {"list", "tuple", "list of rows"}


def writes(*_, **__):
    raise trained_cases.WritesError


def predict(self, x, **_):
    """Probabilities at once: what Keras does in between takes most of the time."""
    return np.full((len(x), 3), 1 / 3)


@pytest.fixture(autouse=True, scope="module")
def neither_trains_nor_writes(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch, no_training():
        patch.chdir(tmp_path_factory.mktemp("folder"))
        patch.setattr(BayesClassifier, "predict", predict)
        module = importlib.import_module("csdl_keras.prediction.export")
        patch.setattr(module, "write_artifact", writes)
        patch.setattr(module, "_write_in_process", writes)
        yield
    keras.utils.clear_session()


@pytest.mark.parametrize("name", ["ShuffledBatches", "Trainer", "calibrate"])
@settings(max_examples=50)
@given(data=st.data())
def test_containers(name, data):
    check_containers(CASES[name], data, HELD if name == "ShuffledBatches" else CONTAINERS)


TestRobustness = robustness_tests(CASES)
