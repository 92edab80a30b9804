"""Estimators and their scorer with right and wrong arguments of every kind."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.robustness.no_training import ReachedError, no_training
from tests.robustness.outcome import outcome
from tests.robustness.properties import container_tests, robustness_tests
from tests.robustness.spoiled import JUNK, SCALARS, spoil

pytest.importorskip("sklearn")

from tests.robustness.estimators_cases import (  # noqa: E402
    CASES,
    INPUTS,
    LABELS,
    SETTINGS,
    Answers,
    csdl_sklearn,
)


@pytest.fixture(autouse=True, scope="module")
def nothing_trains():
    with no_training():
        yield


pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
TestRobustness = robustness_tests(CASES)
test_containers = container_tests(CASES, 50)


@settings(max_examples=200)
@given(data=st.data())
def test_examples_that_scikit_learn_checks(data):
    """Inputs and labels are refused in its words; what it lets through are finite numbers."""
    x, y = data.draw(st.just(INPUTS) | spoil(INPUTS)), data.draw(st.just(LABELS) | spoil(LABELS))
    model = csdl_sklearn.CostSensitiveClassifier("dnn_sosr", settings=SETTINGS)
    try:
        model.fit(x, y)
    except ReachedError:
        classes = len(model.classes_)
        assert model.cost_matrix_.shape == (classes, classes) and classes > 1
        with np.errstate(over="ignore"):
            assert np.isfinite(np.asarray(x, "f4")).all() and len(x) == len(y)
    except (ValueError, TypeError, OverflowError) as error:
        assert len(str(error)) > 10
    else:
        raise AssertionError("neither refused nor trained")


@pytest.mark.parametrize("wrong", [*SCALARS, *JUNK])
def test_what_is_no_classifier(wrong):
    for bayes in (False, True):
        scorer = csdl_sklearn.average_cost_scorer(np.ones((3, 3)) - np.eye(3), bayes)
        message = str(outcome(scorer, wrong, INPUTS, LABELS))
        assert message.startswith("Expected a fitted classifier with classes_ and predict")


def test_probabilities_that_are_not():
    class Lost(Answers):
        def predict_proba(self, x):
            return np.full((6, 3), np.nan)

    scorer = csdl_sklearn.average_cost_scorer(np.ones((3, 3)) - np.eye(3), bayes=True)
    with pytest.raises(ValueError, match="^Expected outputs without NaN"):
        scorer(Lost(), INPUTS, LABELS)
