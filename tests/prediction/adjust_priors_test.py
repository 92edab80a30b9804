import keras
import numpy as np
import pytest

from csdl_keras import adjust_priors, bayes_classifier, calibrate
from csdl_keras.models import ensemble, mlp, view_average
from tests.support.testing import TestCase

TRAINED, USED, LATER = [0.2, 0.3, 0.5], [0.6, 0.3, 0.1], [5, 1, 2]


def loop(probabilities, from_priors, to_priors):
    """The equation, example by example."""
    found = np.zeros(np.shape(probabilities))
    for n, row in enumerate(np.asarray(probabilities, "float64")):
        weights = [
            p * (to / sum(to_priors)) / (old / sum(from_priors))
            for p, old, to in zip(row, from_priors, to_priors, strict=True)
        ]
        found[n] = np.array(weights) / sum(weights)
    return found


class TestProbabilities(TestCase):
    @pytest.mark.parametrize("to_priors", [USED, LATER, [0.0, 1.0, 1.0]])
    def test_equals_a_loop(self, to_priors):
        rows = np.random.default_rng(0).dirichlet([0.5] * 3, 30)
        found = adjust_priors(rows, TRAINED, to_priors)
        self.assertAllClose(found, loop(rows, TRAINED, to_priors), atol=1e-12)

    def test_of_class_1(self):
        p = np.array([0.0, 0.2, 1.0])
        expected = loop(np.stack([1 - p, p], axis=1), [1, 1], [9, 1])
        for given_as in (p, p[:, None], p.tolist()):
            self.assertAllClose(adjust_priors(given_as, [1, 1], [9, 1]), expected)

    def test_extreme_frequencies_and_probabilities(self):
        rows = [[1.0, 0.0, 0.0], [0.0, 1e-300, 1.0]]
        for before, after in (([1e-320, 1, 1], [1, 1, 1]), ([1, 1e300, 1e300], [0, 1, 3])):
            found = adjust_priors(rows, before, after)
            assert np.isfinite(found).all()
            self.assertAllClose(found.sum(axis=1), np.ones(2))
        # All probability is on a class that does not occur: the others are as likely as before.
        self.assertAllClose(adjust_priors(rows, [1, 1, 1], [0, 1, 3])[0], [0, 0.25, 0.75])


def classifier(seed=0):
    return mlp((4,), 3, (5,), seed=seed)


def of_images():
    network = keras.Sequential(
        [keras.Input((3, 3, 1)), keras.layers.Flatten(), keras.layers.Dense(3, "softmax")]
    )
    return adjust_priors(network, TRAINED, USED)


X, Y = np.random.default_rng(0).normal(size=(30, 4)), np.arange(30) % 3


@pytest.mark.parametrize(
    "model",
    [
        lambda: adjust_priors(classifier(), TRAINED, USED),
        lambda: calibrate(adjust_priors(classifier(), TRAINED, USED), X, Y),
        lambda: bayes_classifier(adjust_priors(classifier(), TRAINED, USED), 1 - np.eye(3)),
        lambda: ensemble([adjust_priors(classifier(seed), TRAINED, USED) for seed in range(2)]),
        lambda: view_average(of_images()),
    ],
    ids=["last", "calibrated", "decides", "mean", "views"],
)
def test_frequencies_are_not_applied_twice(model):
    with pytest.raises(ValueError, match=r"adjusted to the shares \[0.6, 0.3, 0.1\]"):
        adjust_priors(model(), TRAINED, LATER)
    adjust_priors(model(), USED, LATER)
