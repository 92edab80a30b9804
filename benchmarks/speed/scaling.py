"""How training grows with examples, classes and layers."""

from collections.abc import Iterator

import keras
import numpy as np
from paired import Ratio, seconds
from row import Row

import csdl_keras as csdl

BACKENDS = ("tensorflow", "jax", "torch")
FEATURES, BATCH = 64, 128


class Stream(keras.utils.PyDataset):
    """Batches of cost vectors that are made when they are asked for.

    Args:
        examples: their number.
        classes: K.
    """

    def __init__(self, examples: int, classes: int):
        super().__init__()
        rng = np.random.default_rng(0)
        self.batches = -(-examples // BATCH)
        self.x = rng.normal(size=(BATCH, FEATURES)).astype("float32")
        self.y = rng.uniform(size=(BATCH, classes)).astype("float32")

    def __len__(self):
        return self.batches

    def __getitem__(self, index):
        return np.roll(self.x, index, axis=0), self.y


def measure(quick: bool) -> Iterator[Row]:
    """Growth in units of the smallest size, per example."""
    repeats = 2 if quick else 5
    sizes = (1000, 10_000, 100_000) if quick else (1000, 10_000, 100_000, 1_000_000)
    yield from _grow("examples, streamed", sizes, repeats, lambda n: (n, 10, 2), per_example=True)
    classes = (10, 100, 1000) if quick else (10, 100, 1000, 10_000)
    yield from _grow("classes", classes, repeats, lambda k: (BATCH * 20, k, 2))
    depths = (1, 3, 10)
    yield from _grow("hidden layers", depths, repeats, lambda d: (BATCH * 40, 10, d))


def _grow(what, sizes, repeats, shape, per_example=False) -> Iterator[Row]:
    base = None
    for size in sizes:
        examples, classes, depth = shape(size)
        model = csdl.models.mlp((FEATURES,), classes, (128,) * depth, output="cost", seed=0)
        model.compile(keras.optimizers.SGD(1e-3), loss=csdl.SOSRLoss())
        stream = Stream(examples, classes)
        fit = lambda model=model, stream=stream: model.fit(stream, verbose=0)  # noqa: E731
        # The first fit compiles; of a long stream it is a short one.
        model.fit(Stream(2 * BATCH, classes), verbose=0)
        taken = np.array([seconds(fit) for _ in range(1 if examples > 200_000 else repeats)])
        taken = taken / examples
        base = np.median(taken) if base is None else base
        growth = "" if per_example else f", {size // sizes[0]} times as many"
        yield Row(
            f"{size:,} {what}",
            f"seconds per example beside {sizes[0]:,}{growth}",
            Ratio.of(taken / base),
            "<= 1.1" if per_example else "",
            f"{1e6 * np.median(taken):.1f} µs an example",
        )
