"""How training grows with examples, classes, layers and devices."""

import functools
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import child
import keras
import numpy as np
from paired import Ratio, Row, freeze, seconds
from problem import network

BACKENDS = ("tensorflow", "jax", "torch")
FEATURES, BATCH, DEVICES = 64, 128, (1, 2, 4)


class Stream(keras.utils.PyDataset):
    """Batches of cost vectors that are generated on request.

    Args:
        examples: number of examples.
        classes: number of classes K.
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


def _fed(stream: Stream) -> Any:
    """Returns the stream; on TensorFlow as a dataset without the autotuner of `tf.data`."""
    if keras.backend.backend() != "tensorflow":
        return stream
    import tensorflow as tf

    signature = tuple(tf.TensorSpec((None, *part.shape[1:]), part.dtype) for part in stream[0])
    options = tf.data.Options()
    options.autotune.enabled = False
    data = tf.data.Dataset.from_generator(
        lambda: (stream[index] for index in range(len(stream))), output_signature=signature
    )
    counted = data.apply(tf.data.experimental.assert_cardinality(len(stream)))
    return counted.prefetch(2).with_options(options)


def measure(quick: bool) -> Iterator[Row]:
    """Measures seconds per example relative to the smallest size."""
    repeats = 2 if quick else 5
    sizes = (1000, 10_000, 100_000) if quick else (1000, 10_000, 100_000, 1_000_000)
    yield from _grow("examples, streamed", sizes, repeats, lambda n: (n, 10, 2), constant=True)
    classes = (2, 10, 100, 1000) if quick else (2, 10, 100, 1000, 10_000)
    yield from _grow("classes", classes, repeats, lambda k: (BATCH * 20, k, 2))
    yield from _grow("hidden layers", (1, 2, 5, 10), repeats, lambda d: (BATCH * 40, 10, d))
    if keras.backend.backend() == "jax":
        yield from _devices(DEVICES[:2] if quick else DEVICES, repeats)


def _grow(
    what: str,
    sizes: Sequence[int],
    repeats: int,
    shape: Callable[[int], tuple[int, int, int]],
    constant: bool = False,
) -> Iterator[Row]:
    base = np.array([])
    for size in sizes:
        examples, classes, depth = shape(size)
        model = network(FEATURES, classes, (128,) * depth, 1e-3)
        # The first fit compiles, so a short stream suffices.
        model.fit(_fed(Stream(2 * BATCH, classes)), verbose=0)
        freeze()
        fit = functools.partial(model.fit, _fed(Stream(examples, classes)), verbose=0)
        times = 1 if examples > 200_000 else repeats
        taken = np.array([seconds(fit) for _ in range(times)]) / examples
        base = base if len(base) else taken
        yield Row(
            f"{size:,} {what}",
            f"seconds per example relative to {sizes[0]:,}",
            Ratio.between(taken, base),
            # The fixed costs of `fit` weigh less with more examples.
            "<= 1.1" if constant else f"<= {1.1 * size / sizes[0]:.4g}",
            f"{1e6 * np.median(taken):.1f} µs an example",
            (size, float(np.median(taken))),
        )


def _devices(numbers: Sequence[int], repeats: int) -> Iterator[Row]:
    """Measures the overhead of dividing batches among JAX's virtual devices, which share cores."""
    base = np.array([])
    for devices in numbers:
        flags = f"--xla_force_host_platform_device_count={devices}"
        # With only as many threads as cores, devices may wait for one another forever.
        threads = str(4 * max(DEVICES))
        taken = np.array(child.printed(__file__, str(repeats), XLA_FLAGS=flags, NPROC=threads))
        base = base if len(base) else taken
        yield Row(
            f"{devices} virtual devices on {os.cpu_count()} cores",
            "seconds per example relative to 1",
            Ratio.between(taken, base),
            "",
            f"{1e6 * np.median(taken):.1f} µs an example",
            (devices, float(np.median(taken))),
        )


def _child(repeats: int) -> None:
    """Prints the seconds per example of a wide network on all devices."""
    devices = keras.distribution.list_devices()
    if len(devices) > 1:
        keras.distribution.set_distribution(keras.distribution.DataParallel(devices=devices))
    examples = BATCH * 40
    rng = np.random.default_rng(0)
    x = rng.normal(size=(examples, FEATURES)).astype("float32")
    y = rng.uniform(size=(examples, 10)).astype("float32")
    model = network(FEATURES, 10, (1000,) * 3, 1e-3)
    fit = functools.partial(model.fit, x, y, batch_size=BATCH, verbose=0)
    fit()
    freeze()
    print(json.dumps([seconds(fit) / examples for _ in range(repeats)]))


if __name__ == "__main__":
    _child(int(sys.argv[1]))
