"""scikit-learn's own checks of an estimator: none is expected to fail."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from csdl_keras.sklearn import CostSensitiveClassifier
from tests.sklearn.fitted import SETTINGS


def checks(algorithm, *marks):
    pairs = estimator_checks_generator(CostSensitiveClassifier(algorithm, settings=SETTINGS))
    names = [(pair, getattr(pair[1], "func", pair[1]).__name__) for pair in pairs]
    return [pytest.param(*pair, id=f"{algorithm}-{name}", marks=marks) for pair, name in names]


NETWORK = checks("calibrated_bayes", pytest.mark.slow, pytest.mark.filterwarnings("ignore"))


@pytest.mark.parametrize(("estimator", "check"), [*checks("csosr"), *NETWORK])
def test_of_scikit_learn(estimator, check):
    check(estimator)
