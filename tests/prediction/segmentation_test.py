"""Segmentation, where a missed tumour costs twenty times as much as a false alarm."""

import keras
import numpy as np

import csdl_keras as csdl

COSTS = np.array([[0.0, 1.0], [20.0, 0.0]])


def scans(number, seed):
    """Noisy images `(N, 16, 16, 1)` with a square tumour each, and the classes of their pixels."""
    rng = np.random.default_rng(seed)
    masks = np.zeros((number, 16, 16), int)
    for mask, (i, j) in zip(masks, rng.integers(0, 11, size=(number, 2)), strict=True):
        mask[i : i + 5, j : j + 5] = 1
    return (masks + rng.normal(size=masks.shape))[..., None].astype("float32"), masks


def test_a_missed_pixel_of_a_tumour_costs_more(run_eagerly):
    x, y = scans(64, seed=0)
    x_new, y_new = scans(64, seed=1)
    labelled = np.random.default_rng(2).uniform(size=y.shape) < 0.7
    y = np.where(labelled, y, 0)  # Any class will do where the weight is 0.
    layers = [
        keras.Input((16, 16, 1)),
        keras.layers.Conv2D(8, 5, padding="same", activation="relu"),
    ]
    layers += [keras.layers.Conv2D(1, 5, padding="same", activation="sigmoid")]
    model = keras.Sequential(layers)
    model.compile(keras.optimizers.Adam(0.03), "binary_crossentropy")
    model.fit(x, y[..., None], sample_weight=labelled, batch_size=8, epochs=5, verbose=0)
    decisions = csdl.decide(csdl.bayes_classifier(model, COSTS), x_new)
    cost = csdl.evaluation.average_cost(y_new, decisions, COSTS)
    assert cost < 0.6 * csdl.evaluation.average_cost(y_new, csdl.decide(model, x_new), COSTS)
    assert csdl.evaluation.savings(y_new, decisions, COSTS) > 0.3
