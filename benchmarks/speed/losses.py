"""Training steps of cost losses relative to softmax cross-entropy, by the number of classes."""

import functools
from collections.abc import Callable, Iterator

import keras
import numpy as np
from feeding import batches
from paired import Ratio, Row, interleaved

import csdl_keras as csdl
from csdl_keras.losses import MINLoss, OneSidedLoss, PoissonCostLoss

BACKENDS = ("tensorflow", "jax", "torch")
FEATURES, BATCH = 512, 128


def measure(quick: bool) -> Iterator[Row]:
    """Measures a linear layer of K outputs with each loss on labels and a cost matrix."""
    before: dict[str, np.ndarray] = {}
    smaller = 0
    for classes in (10, 1000) if quick else (10, 100, 1000, 10_000):
        # Enough steps for the fixed costs of `fit` to weigh little.
        steps = {10: 300, 100: 200, 1000: 40, 10_000: 10}[classes]
        rounds = 2 if quick else 6 if classes == 10 else 4
        rng = np.random.default_rng(0)
        x = rng.normal(size=(steps * BATCH, FEATURES)).astype("float32")
        y = rng.integers(classes, size=len(x)).astype("int32")
        matrix = rng.uniform(size=(classes, classes)).astype("float32")
        np.fill_diagonal(matrix, 0.0)
        losses = {
            "cross-entropy": keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            "SOSR": csdl.SOSRLoss(matrix),
            "MIN": MINLoss(matrix),
            "Poisson": PoissonCostLoss(matrix),
            "one-sided": OneSidedLoss(matrix),
        }
        ways = {name: _fit(loss, x, y, classes) for name, loss in losses.items()}
        found = interleaved(ways, rounds)
        for name in list(losses)[1:]:
            yield Row(
                f"{name}, K = {classes:,}",
                "step time relative to softmax cross-entropy",
                Ratio.of(found[name] / found["cross-entropy"]),
                "<= 1.05" if classes == 10 else "",
                f"{1e3 * np.median(found[name]) / steps:.2f} ms a step",
            )
            if name in before:
                yield Row(
                    f"{name}, K = {classes:,} relative to {smaller:,}",
                    "growth of its step time",
                    Ratio.between(found[name] / steps, before[name]),
                    f"<= {1.1 * classes / smaller:.4g}",
                )
            before[name] = found[name] / steps
        smaller = classes


def _fit(
    loss: keras.losses.Loss, x: np.ndarray, y: np.ndarray, classes: int
) -> Callable[[], object]:
    activation = "sigmoid" if isinstance(loss, MINLoss) else None
    model = keras.Sequential(
        [keras.Input((FEATURES,)), keras.layers.Dense(classes, activation=activation)]
    )
    model.compile(keras.optimizers.SGD(1e-3), loss=loss)
    return functools.partial(model.fit, **batches(BATCH, x, y), shuffle=False, verbose=0)
