"""scikit-learn's own checks of an estimator."""

import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import estimator_checks_generator

from csdl_keras.sklearn import BayesClassifier, CostSensitiveClassifier
from tests.sklearn.fitted import SETTINGS

# A network's sums of float32 depend on the place of a row in its batch, by their last bit.
NOT_EXACT = {"check_methods_sample_order_invariance": "compares float32 to seven digits"}


def checks(estimator, kind, *marks):
    failing = NOT_EXACT if kind == "calibrated_bayes" else None
    pairs = estimator_checks_generator(estimator, expected_failed_checks=failing, mark="skip")
    names = [(pair, getattr(pair[1], "func", pair[1]).__name__) for pair in pairs]
    return [pytest.param(*pair, id=f"{kind}-{name}", marks=marks) for pair, name in names]


def trained(algorithm, *marks):
    return checks(CostSensitiveClassifier(algorithm, settings=SETTINGS), algorithm, *marks)


NETWORK = trained("calibrated_bayes", pytest.mark.slow, pytest.mark.filterwarnings("ignore"))
UNPRICED = pytest.mark.filterwarnings("ignore:BayesClassifier was given no costs")
BAYES = [
    *checks(BayesClassifier(GaussianNB(), calibration=None), "as they are", UNPRICED),
    *checks(BayesClassifier(GaussianNB(), cv=2), "calibrated", UNPRICED),
]


@pytest.mark.parametrize(("estimator", "check"), [*trained("csosr"), *NETWORK, *BAYES])
def test_of_scikit_learn(estimator, check):
    check(estimator)
