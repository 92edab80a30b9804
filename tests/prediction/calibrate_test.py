import keras
import numpy as np
import pytest
from keras import layers

from csdl_keras import bayes_classifier, calibrate, output_kind
from csdl_keras.models import BayesClassifier
from csdl_keras.prediction.calibrate import fit_temperature
from tests.support.small_models import functional, nested
from tests.support.testing import TestCase

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
X = np.random.default_rng(0).normal(size=(200, 3)).astype("float32")
RNG = np.random.default_rng(1)


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def drawn(probabilities):
    """A label for each row, drawn from it."""
    return np.array([RNG.choice(len(p), p=p / p.sum()) for p in probabilities.astype("float64")])


def likelihood(probabilities, labels, temperature, bias=0.0):
    total = 0.0
    for row, label in zip(probabilities.astype("float64"), labels, strict=True):
        scores = np.log(row) / temperature + bias
        total -= scores[label] - np.log(np.exp(scores).sum())
    return total / len(labels)


class TestFitTemperature(TestCase):
    def test_finds_the_biases(self):
        true = softmax(RNG.normal(size=(4000, 3), scale=2.0))
        labels = drawn(true)
        shift = np.array([1.0, 0.0, -1.5])
        shown = softmax(2.0 * (np.log(true) - shift))
        temperature, bias = fit_temperature(shown, labels, with_bias=True)
        assert abs(temperature - 2.0) < 0.15
        self.assertAllClose(bias - bias.mean(), shift - shift.mean(), atol=0.2)

    def test_the_prior_keeps_it_finite(self):
        """Where all examples are right, a class has none or a probability is 0."""
        rows = np.array([[0.9, 0.1], [0.2, 0.8]])
        few, _ = fit_temperature(rows, np.array([0, 1]))
        many, _ = fit_temperature(np.tile(rows, (100, 1)), np.tile([0, 1], 100))
        assert 0.5 < few < 1 and 0.1 < many < few
        true = softmax(RNG.normal(size=(300, 3)))
        _, bias = fit_temperature(true, drawn(true[:, :2]), with_bias=True)
        assert np.isfinite(bias).all() and np.abs(bias).max() < 8
        sure = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        temperature, bias = fit_temperature(sure, np.array([0, 1, 1]), with_bias=True)
        assert np.isfinite(temperature) and np.isfinite(bias).all()

    @pytest.mark.parametrize("with_bias", [False, True])
    def test_weights_stand_for_repeated_examples(self, with_bias):
        true = softmax(RNG.normal(size=(90, 3), scale=2.0))
        labels, counts = drawn(softmax(0.5 * np.log(true))), RNG.integers(4, size=90)
        rows, repeated = np.repeat(true, counts, axis=0), np.repeat(labels, counts)
        found = fit_temperature(true, labels, with_bias, None, counts)
        expected = fit_temperature(rows, repeated, with_bias, None)
        self.assertAllClose(found[0], expected[0], rtol=1e-4)
        self.assertAllClose(found[1], expected[1], atol=1e-3)
        # Priors weigh as much whatever the unit of weights.
        for found, expected in zip(
            fit_temperature(true, labels, with_bias, 0.1, np.full(90, 50.0)),
            fit_temperature(true, labels, with_bias, 0.1),
            strict=True,
        ):
            self.assertAllClose(found, expected, rtol=1e-4, atol=1e-5)


class TestCalibrate(TestCase):
    @pytest.mark.parametrize("build", [functional, nested])
    @pytest.mark.parametrize("method", ["temperature", "bias_corrected"])
    def test_makes_the_labels_likelier(self, build, method):
        model = build([layers.Dense(3, "softmax")])
        before = model.predict(X, verbose=0)
        labels = drawn(softmax(0.4 * np.log(before + 1e-9)))
        calibrated = calibrate(model, X, labels, method)
        after = calibrated.predict(X, verbose=0)
        assert output_kind(calibrated) == "probability"
        self.assertAllClose(after.sum(axis=1), np.ones(len(X)))
        assert likelihood(after, labels, 1.0) < likelihood(before, labels, 1.0) - 0.01
        if method == "temperature":
            np.testing.assert_array_equal(after.argmax(axis=1), before.argmax(axis=1))
        self.assertAllClose(model.predict(X, verbose=0), before)  # itself it stays as it was
        self.assertAllClose(calibrate(model, X, labels, method).predict(X, verbose=0), after)

    def test_a_bayes_classifier_keeps_its_matrix(self):
        model = functional([layers.Dense(3, "softmax")])
        labels = drawn(softmax(0.4 * np.log(model.predict(X, verbose=0) + 1e-9)))
        careful = calibrate(bayes_classifier(model, MATRIX), X, labels)
        assert isinstance(careful, BayesClassifier) and output_kind(careful) == "cost"
        probabilities = calibrate(model, X, labels).predict(X, verbose=0)
        self.assertAllClose(careful.predict(X, verbose=0), probabilities @ MATRIX, atol=1e-4)

    def test_weights_of_examples(self):
        model = functional([layers.Dense(3, "softmax")])
        labels = drawn(softmax(0.4 * np.log(model.predict(X, verbose=0) + 1e-9)))
        weights = np.arange(len(X)) % 2
        found = calibrate(model, X, labels, spread=None, sample_weight=weights)
        expected = calibrate(model, X[1::2], labels[1::2], spread=None)
        found, expected, plain = (
            one.predict(X, verbose=0) for one in (found, expected, calibrate(model, X, labels))
        )
        self.assertAllClose(found, expected, atol=1e-4)
        assert np.abs(found - plain).max() > 1e-3

    @pytest.mark.parametrize("ending", ["dense", "activation", "logits"])
    def test_one_unit_that_is_far_too_sure(self, ending):
        """Its probabilities round to 1 where they would have to be weighed."""
        logits = np.random.default_rng(3).normal(size=4000).astype("float32") * 15
        labels = (np.random.default_rng(4).uniform(size=4000) < 1 / (1 + np.exp(-logits / 8))) * 1
        activation = {"dense": ["sigmoid"], "activation": [None], "logits": [None]}[ending]
        parts = [keras.Input((1,)), layers.Dense(1, *activation, kernel_initializer="ones")]
        if ending == "activation":
            parts.append(layers.Activation("sigmoid"))
        model = keras.Sequential(parts)
        calibrated = calibrate(model, logits[:, None], labels, from_logits=ending == "logits")
        # All but exactly the temperature that labels were drawn with, on both sides of 0.
        outputs = calibrated.predict(np.array([[40.0], [-40.0]]), verbose=0)
        wanted = 1 / (1 + np.exp(-5))
        self.assertAllClose(outputs, [[1 - wanted, wanted], [wanted, 1 - wanted]], atol=2e-3)
