"""What scales probabilities is the most likely, also where classes are almost separable."""

import numpy as np
import pytest
from keras import layers
from scipy.optimize import minimize

from csdl_keras import calibrate
from csdl_keras.layers import MatrixScaling
from csdl_keras.layers.probabilities import SMALLEST_PROBABILITY
from csdl_keras.prediction.calibrate import fit_scaling
from tests.support.small_models import functional, inputs
from tests.support.testing import TestCase, to_numpy

RNG = np.random.default_rng(1)


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def drawn(probabilities):
    """A label for each row, drawn from it."""
    return np.array([RNG.choice(len(p), p=p / p.sum()) for p in probabilities.astype("float64")])


def problem(kind, seed):
    """Probabilities and labels, of which a bias moves the border."""
    rng = np.random.default_rng(seed)
    classes, size = 2 + seed % 3, 12 + 20 * seed
    scores = rng.normal(size=(size, classes), scale=[1.0, 5.0, 30.0][seed % 3])
    if kind == "sure":
        scores = 200.0 * np.eye(classes)[rng.integers(classes, size=size)]
    labels = (scores + rng.normal(size=classes, scale=3.0)).argmax(axis=1)
    if kind == "nearly separable":
        drawn_labels = rng.integers(classes, size=size)
        labels = np.where(rng.uniform(size=size) < 0.05, drawn_labels, labels)
    labels = {"turned": scores.argmin(axis=1), "one class": 0 * labels}.get(kind, labels)
    return softmax(scores).astype("float32"), labels


def penalised(probabilities, labels, spread):
    """What is minimised, as a function of `[ln T, *bias]`."""
    logs = np.log(np.maximum(probabilities.astype("float64"), SMALLEST_PROBABILITY))

    def loss(values):
        scores = logs * np.exp(-np.clip(values[0], -20, 20)) + values[1:]
        own = scores[np.arange(len(labels)), labels]
        prior = 0.0 if spread is None else np.sum(values**2) / (2 * spread**2 * len(labels))
        return np.mean(np.logaddexp.reduce(scores, axis=1) - own) + prior

    return loss


def slow_optimum(loss, classes):
    """The lowest value that a search without gradients finds, from several starts."""
    found = []
    for start in (-4.0, 0.0, 3.0):
        point, options = np.array([start, *np.zeros(classes)]), {"xatol": 1e-8, "fatol": 1e-12}
        found.append(minimize(loss, point, method="Nelder-Mead", options=options).fun)
    return min(found)


def penalised_matrix(probabilities, labels, spread):
    """Minus the log-likelihood with priors, of `[ln T, *bias, *V]`, one example after the other."""
    classes = probabilities.shape[1]

    def loss(values):
        temperature, bias = np.exp(values[0]), values[1 : 1 + classes]
        more = values[1 + classes :].reshape(classes, classes)
        total = (values[0] ** 2 + np.sum(bias**2)) / (2 * spread**2)
        for i, j in np.ndindex(more.shape):
            total += more[i, j] ** 2 / (2 * (spread * (0.3 if i == j else 0.3 / classes)) ** 2)
        for row, label in zip(probabilities, labels, strict=True):
            logs = np.log(np.maximum(row, 1e-4))
            logs = logs - logs.mean()
            scores = (logs + logs @ more) / temperature + bias
            total -= scores[label] - np.log(np.sum(np.exp(scores)))
        return total / len(labels)

    return loss


class TestFitScaling(TestCase):
    @pytest.mark.parametrize("spread", [1.0, None])
    @pytest.mark.parametrize(
        "kind", ["separable", "nearly separable", "turned", "one class", "sure"]
    )
    def test_no_slow_search_finds_a_better_one(self, kind, spread):
        for seed in range(3):
            shown, labels = problem(kind, seed)
            matrix, bias = fit_scaling(shown, labels, "bias_corrected", spread)
            temperature = 1.0 / matrix[0, 0]
            loss = penalised(shown, labels, spread)
            found = loss(np.array([np.log(temperature), *bias]))
            assert found <= slow_optimum(loss, shown.shape[1]) + 1e-7, (seed, temperature, bias)

    @pytest.mark.parametrize("kind", ["nearly separable", "turned", "one class"])
    def test_no_slow_search_finds_a_better_matrix(self, kind):
        for seed, spread in ((0, 1.0), (1, 0.5)):
            shown, labels = problem(kind, seed)
            classes = shown.shape[1]
            loss = penalised_matrix(shown.astype("float64"), labels, spread)
            best = minimize(loss, np.zeros(1 + classes + classes**2), method="BFGS")
            found = MatrixScaling(*fit_scaling(shown, labels, "matrix", spread))
            temperature, bias = np.exp(best.x[0]), best.x[1 : 1 + classes]
            logs = np.log(np.maximum(shown, 1e-4))
            logs -= logs.mean(axis=1, keepdims=True)
            more = best.x[1 + classes :].reshape(classes, classes)
            expected = softmax((logs + logs @ more) / temperature + bias)
            self.assertAllClose(found(shown), expected, atol=2e-4)

    @pytest.mark.parametrize("method", ["temperature", "bias_corrected", "matrix"])
    def test_weights_stand_for_repeated_examples(self, method):
        true = softmax(RNG.normal(size=(90, 3), scale=2.0))
        labels, counts = drawn(softmax(0.5 * np.log(true))), RNG.integers(4, size=90)
        rows, repeated = np.repeat(true, counts, axis=0), np.repeat(labels, counts)
        found = MatrixScaling(*fit_scaling(true, labels, method, None, counts))
        expected = MatrixScaling(*fit_scaling(rows, repeated, method, None))
        self.assertAllClose(found(true), expected(true), atol=1e-3)
        # Priors weigh as much whatever the unit of weights.
        found = fit_scaling(true, labels, method, 0.1, np.full(90, 50.0))
        expected = fit_scaling(true, labels, method, 0.1)
        self.assertAllClose(found[0], expected[0], rtol=1e-4, atol=1e-5)
        self.assertAllClose(found[1], expected[1], atol=1e-5)


@pytest.mark.usefixtures("run_module_eagerly")
class TestCalibrate(TestCase):
    def test_weights_of_examples(self):
        model, x = functional([layers.Dense(3, "softmax")]), inputs(60)
        labels = drawn(softmax(0.4 * np.log(to_numpy(model(x)) + 1e-9)))
        weights = np.arange(len(x)) % 2
        found = calibrate(model, x, labels, spread=None, sample_weight=weights)
        expected = calibrate(model, x[1::2], labels[1::2], spread=None)
        plain = calibrate(model, x, labels, spread=None)
        self.assertAllClose(found(x), expected(x), atol=1e-4)
        assert np.abs(to_numpy(found(x) - plain(x))).max() > 1e-3
