"""A training step of the paper's 3x3000 network, batch 128, with SOSR."""

import functools
import itertools
from collections.abc import Callable, Iterator

import keras
import machine
import numpy as np
from loops import make_loop
from paired import Ratio, Row, interleaved
from problem import examples, network

import csdl_keras as csdl
from csdl_keras.fitting.fit import executed_steps, seeded_fit

BACKENDS = ("tensorflow", "jax", "torch")
INPUTS, UNITS, CLASSES, BATCH = 784, (3000, 3000, 3000), 10, 128
SIZES = (INPUTS, *UNITS, CLASSES)
CASE = "3x3000, batch 128"
WAYS = {"fit": "`fit` on arrays", "ours": "as the package trains"}


def measure(quick: bool) -> Iterator[Row]:
    """Measures training relative to a loop by hand and to the machine's matrix products."""
    steps, rounds = (8, 3) if quick else (20, 3)
    products = [
        product
        for below, (inputs, outputs) in enumerate(itertools.pairwise(SIZES))
        for product in machine.layer_products(inputs, outputs, BATCH, below > 0)
    ]
    limits = {
        "products": machine.one_by_one(products),
        "update": machine.update(list(itertools.pairwise(SIZES))),
    }
    ways = _ways(steps) | {
        name: functools.partial(_repeat, limit, steps) for name, limit in limits.items()
    }
    found = {"": interleaved(ways, rounds)}
    if not quick and machine.keep_memory():
        found[", memory kept"] = interleaved(ways, rounds)
    for kept, taken in found.items():
        for way, label in WAYS.items():
            yield Row(
                f"{CASE}, {label}{kept}",
                "throughput relative to a loop by hand",
                Ratio.of(taken["loop"] / taken[way]),
                ">= 0.97",
                f"{1e3 * np.median(taken[way]) / steps:.1f} ms a step",
            )
    rate = machine.operations(products) / 1e9
    for kept, taken in found.items():
        limit, update = (np.median(taken[name]) / steps for name in limits)
        for way, label in {"ours": WAYS["ours"], "loop": "a loop by hand"}.items():
            yield Row(
                f"{CASE}, {label}{kept}",
                "share of the rate of its matrix products alone",
                Ratio.of(taken["products"] / taken[way]),
                ">= 0.8" if way == "ours" else "",
                f"{rate * steps / np.median(taken[way]):.0f} of {rate / limit:.0f} GFLOP/s",
            )
            yield Row(
                f"{CASE}, {label}{kept}",
                "share of the rate of its products and the update of its weights alone",
                Ratio.of((taken["products"] + taken["update"]) / taken[way]),
                "",
                f"the update takes {1e3 * update:.1f} ms",
            )


def _repeat(call: Callable[[], object], times: int) -> None:
    for _ in range(times):
        call()


def _ways(steps: int) -> dict[str, Callable[[], object]]:
    """Returns three ways to train the same network on the same batches."""
    x, y = examples(steps * BATCH, INPUTS, CLASSES)
    (order,) = csdl.ShuffledBatches(np.arange(len(x)), batch_size=len(x))[0]
    executed = executed_steps(len(x), BATCH)
    networks = {
        name: network(INPUTS, CLASSES, UNITS, 0.01, number)
        for name, number in (("fit", 1), ("ours", executed))
    }
    loop = make_loop(keras.backend.backend(), networks["fit"].get_weights(), 0.01)
    sorted_ = (x[order], y[order])
    fit = functools.partial(networks["fit"].fit, batch_size=BATCH, shuffle=False, verbose=0)
    ways = {
        "fit": functools.partial(fit, *sorted_),
        "ours": functools.partial(
            seeded_fit, networks["ours"], x, y, seed=0, batch_size=BATCH, verbose=0
        ),
        "loop": functools.partial(loop.run, *sorted_, BATCH),
    }
    for way in ways.values():
        way()
    for model in networks.values():
        for one, other in zip(model.get_weights(), loop.arrays(), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
    return ways
