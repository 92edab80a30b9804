"""The Bayes decision in prediction relative to the network alone."""

import functools
from collections.abc import Iterator

import feeding
import keras
import numpy as np
from paired import Ratio, Row, interleaved

import csdl_keras as csdl

BACKENDS, PROCESSES = ("tensorflow", "jax", "torch"), 1


def measure(quick: bool) -> Iterator[Row]:
    """Measures `predict` of `bayes_classifier` relative to that of the classifier in it."""
    rounds = 3 if quick else 5
    for classes in (10, 1000):
        network = csdl.models.mlp((784,), classes, (3000,) * 3, seed=0)
        yield _row("3x3000", network, classes, 256, 4 if quick else 16, rounds)
    if not quick:
        network = keras.applications.MobileNetV2(weights=None, classes=1000)
        yield _row("MobileNetV2, 224x224", network, 1000, 16, 2, 3)


def _row(
    name: str, network: keras.Model, classes: int, batch: int, batches: int, rounds: int
) -> Row:
    shape = (batches * batch, *network.input_shape[1:])
    x = np.random.default_rng(0).uniform(size=shape).astype("float32")
    careful = csdl.bayes_classifier(network, csdl.costs.zero_one(classes))
    ways = {
        way: functools.partial(model.predict, **feeding.batches(batch, x), verbose=0)
        for way, model in (("network", network), ("careful", careful))
    }
    found = interleaved(ways, rounds)
    return Row(
        f"{name}, K = {classes:,}, batch {batch}",
        "seconds relative to the network alone",
        Ratio.of(found["careful"] / found["network"]),
        "<= 1.02",
        f"{1e6 * np.median(found['careful']) / len(x):.1f} µs an input",
    )
