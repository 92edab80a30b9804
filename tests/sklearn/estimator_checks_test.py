"""scikit-learn's own checks of an estimator: none is expected to fail."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

import csdl_keras as csdl
from csdl_keras.sklearn import CostSensitiveClassifier
from tests.sklearn.fitted import SETTINGS


def checks(algorithm, settings=None):
    pairs = estimator_checks_generator(CostSensitiveClassifier(algorithm, settings=settings))
    return [pytest.param(*pair, id=getattr(pair[1], "func", pair[1]).__name__) for pair in pairs]


@pytest.mark.parametrize(("estimator", "check"), checks("csosr"))
def test_the_kernel_machine(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), checks("dnn_bayes", SETTINGS))
def test_a_network(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "check"), checks("calibrated_bayes", csdl.Settings().limit_epochs(2))
)
def test_a_calibrated_network(estimator, check):
    check(estimator)
