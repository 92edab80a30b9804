"""scikit-learn's own checks of an estimator: none is expected to fail."""

import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import estimator_checks_generator

from csdl_keras.sklearn import BayesClassifier, CostSensitiveClassifier
from tests.sklearn.fitted import SETTINGS


def checks(estimator, kind, *marks):
    pairs = estimator_checks_generator(estimator)
    names = [(pair, getattr(pair[1], "func", pair[1]).__name__) for pair in pairs]
    return [pytest.param(*pair, id=f"{kind}-{name}", marks=marks) for pair, name in names]


def trained(algorithm, *marks):
    return checks(CostSensitiveClassifier(algorithm, settings=SETTINGS), algorithm, *marks)


NETWORK = trained("calibrated_bayes", pytest.mark.slow, pytest.mark.filterwarnings("ignore"))
BAYES = [
    *checks(BayesClassifier(GaussianNB(), calibration=None), "as they are"),
    *checks(BayesClassifier(GaussianNB(), cv=2), "calibrated"),
]


@pytest.mark.parametrize(("estimator", "check"), [*trained("csosr"), *NETWORK, *BAYES])
def test_of_scikit_learn(estimator, check):
    check(estimator)
