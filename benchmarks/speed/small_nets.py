"""Training small networks on small batches, where overhead of a step exceeds its arithmetic."""

import functools
from collections.abc import Iterator

import keras
import numpy as np
from feeding import batches
from loops import make_loop
from paired import Ratio, Row, interleaved
from problem import examples, network

from csdl_keras.fitting.fit import executed_steps, seeded_fit

BACKENDS = ("tensorflow", "jax", "torch")
INPUTS, UNITS, CLASSES = 64, (50, 50), 10


def measure(quick: bool) -> Iterator[Row]:
    """Measures training with several steps an execution or one, relative to a loop by hand."""
    steps, rounds = (200, 3) if quick else (1000, 4)
    backend = keras.backend.backend()
    for batch in (1, 20):
        x, y = examples(steps * batch, INPUTS, CLASSES)
        make = functools.partial(network, INPUTS, CLASSES, UNITS, 0.01)
        own, one = make(executed_steps(len(x), batch)), make()
        ways = {
            "as the package trains": functools.partial(
                seeded_fit, own, x, y, seed=0, batch_size=batch, verbose=0
            ),
            "`fit` on arrays": functools.partial(
                one.fit, x, y, batch_size=batch, shuffle=False, verbose=0
            ),
        }
        if backend != "torch":
            ways["`fit`, 100 steps an execution"] = functools.partial(
                make(100).fit, **batches(batch, x, y), shuffle=False, verbose=0
            )
        loop = make_loop(backend, one.get_weights(), 0.01)
        by_hand = functools.partial(loop.run, x, y, batch)
        found = interleaved({**ways, "loop": by_hand}, rounds)
        for way in ways:
            yield Row(
                f"2x50, batch {batch}, {way}",
                "throughput relative to a loop by hand",
                Ratio.of(found["loop"] / found[way]),
                ">= 0.9" if "arrays" not in way else "",
                f"{1e3 * np.median(found[way]) / steps:.3f} ms a step",
            )
