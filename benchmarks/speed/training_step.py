"""A training step of the paper's 3x3000 network, batch 128, with SOSR."""

import functools
import itertools
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
CASE = "3x3000, batch 128, SOSR"


def measure(quick: bool) -> Iterator[Row]:
    """Our `fit` beside a loop by hand, and beside the machine's matrix products."""
    steps, rounds = (10, 3) if quick else (30, 7)
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(steps * BATCH, INPUTS)).astype("float32")
    y = csdl.costs.zero_one(CLASSES)[rng.integers(CLASSES, size=len(x))].astype("float32")
    torch = keras.backend.backend() == "torch"
    executions = (1,) if torch else (1, 10)
    models = {executed: _model(executed) for executed in executions}
    loop = make_loop(keras.backend.backend(), models[1].get_weights(), 0.01)
    ways = {
        executed: functools.partial(model.fit, x, y, batch_size=BATCH, shuffle=False, verbose=0)
        for executed, model in models.items()
    }
    found = interleaved({**ways, "loop": functools.partial(loop.run, x, y, BATCH)}, rounds)
    for model in models.values():
        _check_alike(model.get_weights(), loop.arrays())
    for executed in executions:
        yield Row(
            f"{CASE}, {executed} steps an execution",
            "throughput beside a loop by hand",
            Ratio.of(found["loop"] / found[executed]),
            ">= 0.97",
            f"{1e3 * np.median(found[executed]) / steps:.1f} ms a step",
        )
    sizes = (INPUTS, *UNITS, CLASSES)
    products = [
        product
        for below, (inputs, outputs) in enumerate(itertools.pairwise(sizes))
        for product in machine.layer_products(inputs, outputs, BATCH, below > 0)
    ]
    limit = machine.limit(products)
    rate = machine.operations(products) / 1e9
    for name, label in ((executions[-1], "ours"), ("loop", "the loop by hand")):
        taken = found[name] / steps
        yield Row(
            CASE,
            f"share of the rate of its matrix products alone, {label}",
            Ratio.of(limit / taken),
            ">= 0.8" if name != "loop" else "",
            f"{rate / np.median(taken):.0f} of {rate / limit:.0f} GFLOP/s",
        )


def _model(executed: int) -> keras.Model:
    model = csdl.models.mlp((INPUTS,), CLASSES, UNITS, output="cost", seed=0)
    model.compile(keras.optimizers.SGD(0.01), loss=csdl.SOSRLoss(), steps_per_execution=executed)
    return model


def _check_alike(ours: list[np.ndarray], others: list[np.ndarray]) -> None:
    """Two ways that are compared must have come to the same weights."""
    for one, other in zip(ours, others, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
