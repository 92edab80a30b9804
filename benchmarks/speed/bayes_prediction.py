"""The Bayes decision in prediction beside the network alone."""

from collections.abc import Iterator

import numpy as np
from paired import Ratio, interleaved
from row import Row

import csdl_keras as csdl

BACKENDS = ("tensorflow", "jax", "torch")
INPUTS, UNITS, BATCH = 784, (1000, 1000, 1000), 256


def measure(quick: bool) -> Iterator[Row]:
    """`predict` of `bayes_classifier` beside that of the classifier in it."""
    batches, rounds = (4, 3) if quick else (16, 15)
    x = np.random.default_rng(0).uniform(size=(batches * BATCH, INPUTS)).astype("float32")
    for classes in (10, 1000):
        network = csdl.models.mlp((INPUTS,), classes, UNITS, seed=0)
        careful = csdl.bayes_classifier(network, csdl.costs.zero_one(classes))
        ways = {
            "network": lambda network=network: network.predict(x, batch_size=BATCH, verbose=0),
            "careful": lambda careful=careful: careful.predict(x, batch_size=BATCH, verbose=0),
        }
        found = interleaved(ways, rounds)
        yield Row(
            f"3x1000, K = {classes:,}, batch {BATCH}",
            "seconds beside the network alone",
            Ratio.of(found["careful"] / found["network"]),
            "<= 1.02",
            f"{1e6 * np.median(found['careful']) / len(x):.1f} µs an input",
        )
