"""Tests of calibration: its optimum, what it keeps, and what it refuses."""

import keras
import numpy as np
import pytest
from keras import layers

from csdl_keras import BayesDecision, bayes_classifier, calibrate, output_kind
from csdl_keras.layers import CostOutput
from csdl_keras.models import BayesClassifier
from csdl_keras.prediction.calibrate import fit_temperature
from tests.models.small_models import BUILDERS, functional
from tests.testing import TestCase

MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
X = np.random.default_rng(0).normal(size=(400, 3)).astype("float32")
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
    @pytest.mark.parametrize("temperature", [0.4, 1.0, 3.0])
    def test_no_other_temperature_is_better(self, temperature):
        true = softmax(RNG.normal(size=(500, 4), scale=2.0))
        labels = drawn(true)
        shown = softmax(np.log(true) * temperature)  # so sharp that dividing by it is right
        found, bias = fit_temperature(shown, labels)
        assert abs(np.log(found / temperature)) < 0.3 and not bias.any()
        best = likelihood(shown, labels, found) + 2 * np.log(found) ** 2 / 500
        for other in np.geomspace(0.1, 10, 60):
            prior = 2 * np.log(other) ** 2 / 500
            assert likelihood(shown, labels, other) + prior >= best - 1e-7

    def test_finds_the_biases(self):
        true = softmax(RNG.normal(size=(4000, 3), scale=2.0))
        labels = drawn(true)
        shift = np.array([1.0, 0.0, -1.5])
        shown = softmax(2.0 * (np.log(true) - shift))
        temperature, bias = fit_temperature(shown, labels, with_bias=True)
        assert abs(temperature - 2.0) < 0.15
        self.assertAllClose(bias - bias.mean(), shift - shift.mean(), atol=0.2)

    @pytest.mark.parametrize("size", [50, 400])
    def test_without_a_prior_the_likelihood_alone(self, size):
        scores = np.random.default_rng(5).normal(size=(size, 3)) * 6
        labels = drawn(softmax(scores / 4))
        found, _ = fit_temperature(softmax(scores), labels, spread=None)
        grid = np.exp(np.linspace(np.log(found) - 0.3, np.log(found) + 0.3, 61))
        values = [likelihood(softmax(scores), labels, temperature) for temperature in grid]
        assert np.argmin(values) == 30
        with_prior, _ = fit_temperature(softmax(scores), labels)
        assert abs(np.log(with_prior / found)) < 8 / size

    def test_examples_that_are_all_right_leave_it_finite(self):
        rows = np.array([[0.9, 0.1], [0.2, 0.8]])
        few, _ = fit_temperature(rows, np.array([0, 1]))
        many, _ = fit_temperature(np.tile(rows, (100, 1)), np.tile([0, 1], 100))
        assert 0.5 < few < 1 and 0.1 < many < few

    def test_a_class_without_examples_keeps_a_finite_bias(self):
        true = softmax(RNG.normal(size=(300, 3)))
        labels = drawn(true[:, :2])
        _, bias = fit_temperature(true, labels, with_bias=True)
        assert np.isfinite(bias).all() and np.abs(bias).max() < 8

    def test_probabilities_of_0(self):
        temperature, bias = fit_temperature(
            np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0, 1, 1]), with_bias=True
        )
        assert np.isfinite(temperature) and np.isfinite(bias).all()


class TestCalibrate(TestCase):
    @pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
    @pytest.mark.parametrize("method", ["temperature", "bias_corrected"])
    def test_lowers_the_likelihood_of_labels(self, build, method):
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

    def test_a_bayes_classifier_keeps_its_matrix(self):
        model = functional([layers.Dense(3, "softmax")])
        labels = drawn(softmax(0.4 * np.log(model.predict(X, verbose=0) + 1e-9)))
        careful = calibrate(bayes_classifier(model, MATRIX), X, labels)
        assert isinstance(careful, BayesClassifier) and output_kind(careful) == "cost"
        probabilities = calibrate(model, X, labels).predict(X, verbose=0)
        self.assertAllClose(careful.predict(X, verbose=0), probabilities @ MATRIX, atol=1e-4)
        assert any(isinstance(layer, BayesDecision) for layer in careful.layers)

    def test_twice(self):
        model = bayes_classifier(functional([layers.Dense(3, "softmax")]), MATRIX)
        labels = RNG.integers(3, size=len(X))
        first = calibrate(model, X, labels).predict(X, verbose=0)
        self.assertAllClose(calibrate(model, X, labels).predict(X, verbose=0), first)

    @pytest.mark.parametrize("units", [1, 3])
    def test_logits(self, units):
        model = functional([layers.Dense(units)])
        labels = RNG.integers(max(units, 2), size=len(X))
        calibrated = calibrate(model, X, labels, from_logits=True)
        assert calibrated.output_shape == (None, max(units, 2))
        self.assertAllClose(calibrated.predict(X, verbose=0).sum(axis=1), np.ones(len(X)))

    def test_one_logistic_unit(self):
        model = functional([layers.Dense(1, "sigmoid")])
        p = model.predict(X, verbose=0)[:, 0]
        labels = (RNG.uniform(size=len(X)) < 0.5 + 0.2 * (p - 0.5)).astype(int)
        after = calibrate(model, X, labels).predict(X, verbose=0)
        assert np.abs(after[:, 1] - 0.5).mean() < np.abs(p - 0.5).mean()

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

    def test_saved_and_loaded(self, tmp_path):
        model = functional([layers.Dense(3, "softmax")])
        labels = RNG.integers(3, size=len(X))
        calibrated = calibrate(model, X, labels, "bias_corrected")
        calibrated.save(tmp_path / "calibrated.keras")
        loaded = keras.saving.load_model(tmp_path / "calibrated.keras")
        self.assertAllClose(loaded.predict(X, verbose=0), calibrated.predict(X, verbose=0))

    def test_what_it_refuses(self):
        model = functional([layers.Dense(3, "softmax")])
        labels = RNG.integers(3, size=len(X))
        with pytest.raises(ValueError, match="`method`"):
            calibrate(model, X, labels, "platt")
        with pytest.raises(ValueError, match="Expected a label for each of 400 inputs"):
            calibrate(model, X, labels[:-1])
        with pytest.raises(ValueError, match="below 3"):
            calibrate(model, X, labels + 1)
        with pytest.raises(ValueError, match="Expected a classifier"):
            calibrate(functional([CostOutput(3)]), X, labels)
        with pytest.raises(ValueError, match="rows that do not"):
            calibrate(functional([layers.Dense(3, activation=lambda x: x)]), X, labels)
