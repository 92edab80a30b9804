"""A training step of the paper's 3x3000 network, batch 128, with SOSR."""

from collections.abc import Iterator

import keras
import machine
import numpy as np
from loops import make_loop
from paired import Ratio, interleaved
from row import Row

import csdl_keras as csdl

BACKENDS = ("tensorflow", "jax", "torch")
INPUTS, UNITS, CLASSES, BATCH = 784, (3000, 3000, 3000), 10, 128


def operations(inputs: int, units: tuple[int, ...], outputs: int, batch: int) -> float:
    """Floating point operations of the products in a training step.

    Forward, the kernels' gradients and those of the layers' inputs, but for the first layer's.
    """
    sizes = (inputs, *units, outputs)
    products = sum(a * b for a, b in zip(sizes[:-1], sizes[1:], strict=True))
    return 2.0 * batch * (3 * products - inputs * units[0])


def measure(quick: bool) -> Iterator[Row]:
    """Our `fit` beside a loop by hand, and beside the machine's matrix products."""
    steps, rounds = (4, 3) if quick else (12, 9)
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(steps * BATCH, INPUTS)).astype("float32")
    y = csdl.costs.zero_one(CLASSES)[rng.integers(CLASSES, size=len(x))].astype("float32")
    model = csdl.models.mlp((INPUTS,), CLASSES, UNITS, output="cost", seed=0)
    loop = make_loop(keras.backend.backend(), model.get_weights(), 0.01)
    model.compile(keras.optimizers.SGD(0.01), loss=csdl.SOSRLoss())
    ways = {
        "ours": lambda: model.fit(x, y, batch_size=BATCH, shuffle=False, verbose=0),
        "loop": lambda: loop.run(x, y, BATCH),
    }
    found = interleaved(ways, rounds)
    _check_alike(model.get_weights(), loop.arrays())
    milliseconds = 1e3 * np.median(found["ours"]) / steps
    yield Row(
        "3x3000, batch 128, SOSR",
        "throughput beside a loop by hand",
        Ratio.of(found["loop"] / found["ours"]),
        ">= 0.97",
        f"{milliseconds:.1f} ms a step",
    )
    limit = machine.rate(BATCH, UNITS[0], UNITS[1])
    for name, label in (("ours", "ours"), ("loop", "the loop by hand")):
        done = operations(INPUTS, UNITS, CLASSES, BATCH) * steps / found[name]
        yield Row(
            "3x3000, batch 128, SOSR",
            f"share of the rate of a 128x3000x3000 product, {label}",
            Ratio.of(done / limit.value),
            ">= 0.8" if name == "ours" else "",
            f"{np.median(done) / 1e9:.0f} of {limit.value / 1e9:.0f} GFLOP/s",
        )


def _check_alike(ours: list[np.ndarray], others: list[np.ndarray]) -> None:
    """Two ways that are compared must have come to the same weights."""
    for one, other in zip(ours, others, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
