"""Temperatures and biases are the most likely ones where classes are almost separable, too."""

import numpy as np
import pytest
from scipy.optimize import minimize

from csdl_keras.layers.probabilities import SMALLEST_PROBABILITY
from csdl_keras.prediction.calibrate import fit_temperature

KINDS = ("separable", "nearly separable", "turned", "one class", "sure")


def problem(kind, seed):
    """Probabilities and labels, of which a bias moves the border."""
    rng = np.random.default_rng(seed)
    classes, size = 2 + seed % 3, 12 + 20 * seed
    scores = rng.normal(size=(size, classes), scale=[1.0, 5.0, 30.0][seed % 3])
    if kind == "sure":
        scores = 200.0 * np.eye(classes)[rng.integers(classes, size=size)]
    labels = (scores + rng.normal(size=classes, scale=3.0)).argmax(axis=1)
    if kind == "nearly separable":
        drawn = rng.integers(classes, size=size)
        labels = np.where(rng.uniform(size=size) < 0.05, drawn, labels)
    labels = {"turned": scores.argmin(axis=1), "one class": 0 * labels}.get(kind, labels)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (powers / powers.sum(axis=1, keepdims=True)).astype("float32"), labels


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


@pytest.mark.parametrize("spread", [1.0, 100.0, None])
@pytest.mark.parametrize("kind", KINDS)
def test_no_slow_search_finds_a_better_one(kind, spread):
    for seed in range(4):
        shown, labels = problem(kind, seed)
        temperature, bias = fit_temperature(shown, labels, True, spread)
        loss = penalised(shown, labels, spread)
        found = loss(np.array([np.log(temperature), *bias]))
        assert found <= slow_optimum(loss, shown.shape[1]) + 1e-7, (seed, temperature, bias)
