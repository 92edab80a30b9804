"""The two networks of an ensemble in two processes beside one after the other."""

import time
from collections.abc import Iterator

import keras
import numpy as np
from paired import Ratio, Row

import csdl_keras as csdl
from csdl_keras.training import EFFORTS

BACKENDS, PROCESSES = ("tensorflow", "jax", "torch"), 1
SHAPE, CLASSES = (28, 28, 1), 10


def measure(quick: bool) -> Iterator[Row]:
    """Measures `csdl.train` of two networks with `jobs=1` and `jobs=2`, narrow and wide ones."""
    generator = np.random.default_rng(0)
    x = generator.uniform(size=(1000 if quick else 3000, *SHAPE)).astype("float32")
    y = generator.integers(CLASSES, size=len(x))
    matrix = 1.0 - np.eye(CLASSES)
    for name in ("quick", "balanced"):
        filters = EFFORTS[name].filters
        epochs = 1 if quick else 20
        body = csdl.training.AutoNetwork(epochs=epochs, filters=filters, min_steps=1)
        settings = csdl.Settings(auto=body)

        def train(jobs: int, settings: csdl.Settings = settings) -> float:
            start = time.perf_counter()
            csdl.train(
                "calibrated_bayes", x, y, matrix, ensemble=2, settings=settings, jobs=jobs, seed=0
            )
            keras.utils.clear_session()
            return time.perf_counter() - start

        one, two = train(1), train(2)
        yield Row(
            f"filters {filters}, {len(x)} images, {epochs} epochs",
            "seconds with jobs=2 beside jobs=1",
            Ratio.exactly(two / one),
            note=f"{two:.0f} s, {one:.0f} s",
        )
