"""Greedy pre-training of three layers, beside the arithmetic of their auto-encoders."""

import time
from collections.abc import Iterator

import keras
import machine
import numpy as np
from paired import Ratio
from row import Row

import csdl_keras as csdl

BACKENDS = ("tensorflow", "jax", "torch")
INPUTS, CLASSES, BATCH = 784, 10, 128


class Epochs(keras.callbacks.Callback):
    """Seconds of each epoch, the first one of each layer apart: it compiles."""

    def __init__(self):
        super().__init__()
        self.first: list[float] = []
        self.later: list[list[float]] = []

    def on_epoch_begin(self, epoch, logs=None):
        self.start = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        taken = time.perf_counter() - self.start
        if epoch == 0:
            self.first.append(taken)
            self.later.append([])
        else:
            self.later[-1].append(taken)


def operations(inputs: int, units: int, decisions: int, examples: int) -> float:
    """Floating point operations of an epoch of a cost-sensitive auto-encoder with untied weights.

    Encoder, decoder and regressor forward, their kernels' gradients, and the gradient
    of the code; that of the input is not needed.
    """
    weights = 2 * inputs * units + units * decisions
    return 2.0 * examples * (2 * weights + inputs * units + units * decisions)


def measure(quick: bool) -> Iterator[Row]:
    """Share of the machine's rate that epochs after the first of each layer reach."""
    units, steps, epochs = (1000, 8, 3) if quick else (3000, 8, 4)
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(steps * BATCH, INPUTS)).astype("float32")
    labels = rng.integers(CLASSES, size=len(x))
    model = csdl.models.mlp((INPUTS,), CLASSES, (units,) * 3, output="cost", seed=0)
    timer = Epochs()
    start = time.perf_counter()
    csdl.pretrain(
        model,
        x,
        costs=csdl.costs.zero_one(CLASSES)[labels],
        beta=0.25,
        corruption=0.25,
        epochs=epochs,
        batch_size=BATCH,
        optimizer=keras.optimizers.SGD(0.01),
        seed=0,
        callbacks=[timer],
        verbose=0,
    )
    whole = time.perf_counter() - start
    limit = machine.rate(BATCH, units, units)
    sizes = (INPUTS, units, units)
    done = sum(operations(size, units, CLASSES, len(x)) for size in sizes)
    seconds = np.sum(timer.later, axis=0)
    yield Row(
        f"3x{units}, batch {BATCH}",
        f"share of the rate of a {BATCH}x{units}x{units} product, an epoch of each layer",
        Ratio.of(done / seconds / limit.value),
        ">= 0.7",
        f"{np.median(seconds):.2f} s; the first epochs, which compile, {sum(timer.first):.2f} s; "
        f"{whole:.1f} s in all for {epochs} epochs",
    )
