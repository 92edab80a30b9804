"""Peak memory of training on labels and a cost matrix, in units of an array of costs by example."""

import json
import pathlib
import re
import sys
from collections.abc import Iterator

import child
import keras
import numpy as np
from paired import Ratio, Row

import csdl_keras as csdl

BACKENDS = ("tensorflow", "jax", "torch")
FEATURES, CLASSES = 64, 1000
ROUTES = ("cross-entropy", "SOSR, cost_matrix=", "SOSR, cost vectors")


def measure(quick: bool) -> Iterator[Row]:
    """Measures each route in a separate process."""
    examples = 20_000 if quick else 50_000
    array = examples * CLASSES * 4 / 2**20
    for route in ROUTES[1:2] if quick else ROUTES:
        grown = child.printed(__file__, route, str(examples))
        yield Row(
            f"{route}, {examples:,} examples, K = {CLASSES:,}",
            f"growth in fit relative to the {array:.0f} MB of an (N, K) array",
            Ratio.exactly(grown / array),
            "< 1" if "matrix" in route else "",
            f"{grown:.0f} MB",
        )


def _resident(what: str) -> float:
    """Returns the megabytes that Linux counts: `VmRSS`, or `VmHWM` for the peak so far."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(rf"{what}:\s+(\d+) kB", status).group(1)) / 2**10


def _child(route: str, examples: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(examples, FEATURES)).astype("float32")
    y = rng.integers(CLASSES, size=examples).astype("int32")
    matrix = csdl.costs.zero_one(CLASSES).astype("float32")
    loss = csdl.SOSRLoss(matrix if "matrix" in route else None)
    if route == "cross-entropy":
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model = keras.Sequential([keras.Input((FEATURES,)), keras.layers.Dense(CLASSES)])
    model.compile(keras.optimizers.SGD(1e-3), loss=loss)
    targets = matrix[y] if "vectors" in route else y
    # Memory for compiling does not belong to the route.
    model.fit(x[:256], targets[:256], batch_size=128, verbose=0)
    before = _resident("VmRSS") - (targets.nbytes / 2**20 if "vectors" in route else 0.0)
    # Resets the peak, since importing took more memory for a while than it kept.
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    model.fit(x, targets, batch_size=128, verbose=0)
    print(json.dumps(_resident("VmHWM") - before))


if __name__ == "__main__":
    _child(sys.argv[1], int(sys.argv[2]))
