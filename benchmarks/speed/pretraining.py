"""Greedy pre-training of three layers, relative to the arithmetic of their auto-encoders."""

import time
from collections.abc import Iterator

import keras
import machine
import numpy as np
import paired
from paired import Ratio, Row
from problem import examples

import csdl_keras as csdl

BACKENDS = ("tensorflow", "jax", "torch")
INPUTS, CLASSES, BATCH = 784, 10, 128


class Epochs(keras.callbacks.Callback):
    """Measures seconds of each epoch, separately for the first of a layer, which compiles."""

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


def products(inputs: int, units: int, decisions: int) -> list[machine.Product]:
    """Returns the matrix products in a step of a cost-sensitive auto-encoder with untied weights.

    They are those of encoder, decoder and regressor; the encoder's inputs are data.
    """
    return [
        *machine.layer_products(inputs, units, BATCH, below=False),
        *machine.layer_products(units, inputs, BATCH, below=True),
        *machine.layer_products(units, decisions, BATCH, below=True),
    ]


def measure(quick: bool) -> Iterator[Row]:
    """Measures the share of the machine's rate that epochs after a layer's first one reach."""
    units, steps, epochs = (1000, 16, 3) if quick else (3000, 16, 5)
    sizes = (INPUTS, units, units)
    calls = (
        machine.one_by_one(part for size in sizes for part in products(size, units, CLASSES)),
        machine.update([(size, units) for size in sizes for _ in ("encoder", "decoder")]),
    )
    limits: list[list[float]] = [[], []]

    def measure_limits() -> None:
        for call, taken in zip(calls, limits, strict=True):
            taken += [paired.seconds(call) for _ in range(steps)]

    measure_limits()
    found = {"": _pretrained(units, steps, epochs)}
    measure_limits()
    if not quick and machine.keep_memory():
        found[", memory kept"] = _pretrained(units, steps, epochs)
    measure_limits()
    limit, update = (steps * float(np.median(taken)) for taken in limits)
    for kept, (timer, whole) in found.items():
        seconds = np.sum(timer.later, axis=0)
        case = f"3x{units}, batch {BATCH}{kept}"
        yield Row(
            case,
            "share of the rate of its matrix products alone, an epoch of each layer",
            Ratio.of(limit / seconds),
            ">= 0.7",
            f"{np.median(seconds):.2f} s; the first epochs, which compile, "
            f"{sum(timer.first):.2f} s; {whole:.1f} s in all for {epochs} epochs",
        )
        yield Row(
            case,
            "share of the rate of its products and the update of its weights alone",
            Ratio.of((limit + update) / seconds),
            "",
            f"the updates take {update:.2f} s",
        )


def _pretrained(units: int, steps: int, epochs: int) -> tuple[Epochs, float]:
    """Pre-trains a network; returns the timer and the seconds in all."""
    x, costs = examples(steps * BATCH, INPUTS, CLASSES)
    model = csdl.models.mlp((INPUTS,), CLASSES, (units,) * 3, output="cost", seed=0)
    timer = Epochs()
    start = time.perf_counter()
    csdl.pretrain(
        model,
        x,
        costs=costs,
        beta=0.25,
        corruption=0.25,
        epochs=epochs,
        batch_size=BATCH,
        optimizer=keras.optimizers.SGD(0.01),
        seed=0,
        callbacks=[timer],
        verbose=0,
    )
    return timer, time.perf_counter() - start
