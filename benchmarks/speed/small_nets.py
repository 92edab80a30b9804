"""Training small networks on small batches, where what a step costs beside arithmetic shows."""

import functools
from collections.abc import Iterator

import keras
import numpy as np
from loops import make_loop
from paired import Ratio, interleaved
from row import Row

import csdl_keras as csdl

BACKENDS = ("tensorflow", "jax", "torch")
INPUTS, UNITS, CLASSES = 64, (50, 50), 10


def measure(quick: bool) -> Iterator[Row]:
    """Our `fit`, several steps an execution or one, beside a loop by hand."""
    steps, rounds = (400, 3) if quick else (2000, 7)
    rng = np.random.default_rng(0)
    backend = keras.backend.backend()
    for batch in (1, 20):
        x = rng.uniform(size=(steps * batch, INPUTS)).astype("float32")
        y = csdl.costs.zero_one(CLASSES)[rng.integers(CLASSES, size=len(x))].astype("float32")
        ways = {}
        for executed in (1,) if backend == "torch" else (1, 32, 100):
            model = csdl.models.mlp((INPUTS,), CLASSES, UNITS, output="cost", seed=0)
            weights = model.get_weights()
            model.compile(
                keras.optimizers.SGD(0.01), loss=csdl.SOSRLoss(), steps_per_execution=executed
            )
            fit = functools.partial(model.fit, x, y, batch_size=batch, shuffle=False, verbose=0)
            ways[executed] = fit
        loop = make_loop(backend, weights, 0.01)
        by_hand = functools.partial(loop.run, x, y, batch)
        found = interleaved({**ways, "loop": by_hand}, rounds)
        for executed in ways:
            yield Row(
                f"2x50, batch {batch}, {executed} steps an execution",
                "throughput beside a loop by hand",
                Ratio.of(found["loop"] / found[executed]),
                ">= 0.9" if executed != 1 or backend == "torch" else "",
                f"{1e3 * np.median(found[executed]) / steps:.3f} ms a step",
            )
