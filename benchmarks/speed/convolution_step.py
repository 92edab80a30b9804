"""A training step of the default network for images, relative to a matrix product."""

import math
from collections.abc import Callable, Iterator

import keras
import machine
import numpy as np
from paired import Ratio, Row, interleaved

from csdl_keras import models
from csdl_keras.fitting.fit import executed_steps, seeded_fit
from csdl_keras.training import EFFORTS, AutoNetwork

BACKENDS = ("tensorflow", "jax", "torch")
SHAPE, CLASSES, BODY = (28, 28, 1), 10, AutoNetwork()
BATCH = BODY.batch_on((1, *SHAPE))
SIZE = 1536


def measure(quick: bool) -> Iterator[Row]:
    """Measures the rate of training images relative to that of one large matrix product."""
    steps, rounds = (10, 3) if quick else (40, 5)
    product = [(SIZE, SIZE, SIZE)] * 4
    for name in ("quick", "balanced"):
        filters = EFFORTS[name].filters
        networks = {
            "ours": models.convnet(SHAPE, CLASSES, filters=filters, seed=0),
            "normalised": _with_batch_normalisation(filters),
        }
        operations = 3.0 * BATCH * steps * _operations(networks["ours"])
        ways = {way: _epoch(network, steps) for way, network in networks.items()}
        for call in ways.values():
            call()
        taken = interleaved({**ways, "products": machine.one_by_one(product)}, rounds)
        case = f"filters {filters}, batch {BATCH}"
        rates = operations / taken["ours"], machine.operations(product) / taken["products"]
        yield Row(
            case,
            "share of the rate of a large matrix product",
            Ratio.of(rates[0] / rates[1]),
            ">= 0.25",
            f"{np.median(rates[0]) / 1e9:.0f} of {np.median(rates[1]) / 1e9:.0f} GFLOP/s, "
            f"{BATCH * steps / np.median(taken['ours']):.0f} images a second",
        )
        yield Row(
            case,
            "time relative to the same network with batch normalisation",
            Ratio.of(taken["ours"] / taken["normalised"]),
        )


def _epoch(network: keras.Model, steps: int) -> Callable[[], object]:
    """Returns a call that trains one epoch as the package does."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(BATCH * steps, *SHAPE)).astype("float32")
    y = rng.integers(CLASSES, size=len(x))
    network.compile(
        BODY.optimizer(x.shape, on_costs=False),
        loss=keras.losses.SparseCategoricalCrossentropy(),
        steps_per_execution=executed_steps(len(x), BATCH),
    )
    return lambda: seeded_fit(network, x, y, seed=0, batch_size=BATCH, verbose=0)


def _with_batch_normalisation(filters: tuple[int, ...]) -> keras.Model:
    """Returns the network with plain kernels and batch normalisation after each convolution."""

    def plain(layer: keras.layers.Layer) -> keras.layers.Layer:
        if not isinstance(layer, keras.layers.Conv2D):
            return type(layer).from_config(layer.get_config())
        return keras.Sequential(
            [
                keras.layers.Conv2D(layer.filters, 3, padding="same", use_bias=False),
                keras.layers.BatchNormalization(),
                keras.layers.Activation("relu"),
            ],
            name=layer.name,
        )

    network = models.convnet(SHAPE, CLASSES, filters=filters, seed=0)
    return keras.models.clone_model(network, clone_function=plain)


def _operations(network: keras.Model) -> float:
    """Counts the floating point operations of the convolutions for one image, forward."""
    layers = [layer for layer in network.layers if isinstance(layer, keras.layers.Conv2D)]
    return 2.0 * sum(
        math.prod(layer.output.shape[1:3]) * math.prod(layer.kernel.shape) for layer in layers
    )
