"""Pre-training and training on streams of any length, in the memory of a few batches.

    python benchmarks/streaming.py --out benchmarks/results/streaming

Batches of 1,000 examples with 784 inputs and 10 costs are made up as they are asked
for, by a `keras.utils.PyDataset` or a `tf.data.Dataset`, and never kept. `pretrain`
reads the stream once to check it and once for each of two layers, `fit` once. Each
row is a process of its own: seconds, also beside those of making the batches of as
many passes alone, and the peak of its memory, also beside the bytes of the stream.
Writes `streaming.csv`, from which it goes on, and `streaming.md`.
"""

import argparse
import json
import pathlib
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from results_table import ResultsTable

import csdl_keras as csdl

FIELDS = ("stream", "gigabytes", "seconds", "making_seconds", "peak_gigabytes")
STREAMS = ("PyDataset", "tf.data")
BATCH_SIZE, FEATURES, DECISIONS = 1000, 784, 10
HIDDEN_UNITS = (32, 16)
PASSES = 2 + len(HIDDEN_UNITS)
BATCH_GIGABYTES = 4 * BATCH_SIZE * (FEATURES + DECISIONS) / 1e9


class Batches(keras.utils.PyDataset):
    """So many batches `(x, costs)`, made when they are asked for."""

    def __init__(self, number: int):
        super().__init__()
        self.number = number

    def __len__(self) -> int:
        return self.number

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(index)
        shapes = (BATCH_SIZE, FEATURES), (BATCH_SIZE, DECISIONS)
        x, costs = (rng.random(shape, dtype="float32") for shape in shapes)
        return x, costs


def tensorflow_batches(number: int) -> Any:
    """The same as a `tf.data.Dataset`."""
    import tensorflow as tf

    def batch(index: Any) -> tuple[Any, Any]:
        shapes = (BATCH_SIZE, FEATURES), (BATCH_SIZE, DECISIONS)
        x, costs = (tf.random.stateless_uniform(shape, (index, 0)) for shape in shapes)
        return x, costs

    return tf.data.Dataset.range(number).map(batch).prefetch(2)


def make_stream(kind: str, number: int) -> Any:
    """A stream of so many batches."""
    return Batches(number) if kind == "PyDataset" else tensorflow_batches(number)


def train(stream: Any) -> None:
    """Pre-trains two layers and trains the network, an epoch each."""
    model = csdl.models.mlp((FEATURES,), DECISIONS, HIDDEN_UNITS, output="cost", seed=0)
    csdl.pretrain(model, stream, beta=0.25, epochs=1, seed=0, verbose=0)
    model.compile("adam", loss=csdl.SOSRLoss(), metrics=[csdl.AverageCost()])
    model.fit(stream, epochs=1, verbose=0)


def read(stream: Any) -> None:
    """Makes every batch as often as training does, and does nothing with them."""
    for _ in range(PASSES):
        indices = range(len(stream)) if isinstance(stream, Batches) else stream
        for index in indices:
            _ = stream[index] if isinstance(stream, Batches) else index


def peak_gigabytes() -> float:
    """The most memory that this process ever had."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def measure(kind: str, gigabytes: float) -> dict[str, Any]:
    """One row, measured in this process."""
    stream = make_stream(kind, round(gigabytes / BATCH_GIGABYTES))
    times = [time.perf_counter()]
    for use in (read, train):
        use(stream)
        times.append(time.perf_counter())
    making, training = np.diff(times)
    values = (kind, gigabytes, round(training, 1), round(making, 1), round(peak_gigabytes(), 3))
    return dict(zip(FIELDS, values, strict=True))


def table(rows: Sequence[dict]) -> str:
    """The rows as a table of ratios."""
    lines = [
        "| stream | GB | seconds | / making the batches | peak memory, GB | / the stream |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        size, seconds, making, peak = (float(row[field]) for field in FIELDS[1:])
        lines.append(
            f"| {row['stream']} | {size:g} | {seconds:.0f} | {seconds / making:.1f} "
            f"| {peak:.2f} | {peak / size:.2f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """The program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--streams", default=",".join(STREAMS))
    parser.add_argument("--gigabytes", default="0.5,2")
    parser.add_argument("--measure", action="store_true", help="one row, in this process")
    arguments = parser.parse_args()
    wanted = [(k, s) for k in arguments.streams.split(",") for s in arguments.gigabytes.split(",")]
    if arguments.measure:
        (kind, size), *_ = wanted
        print(json.dumps(measure(kind, float(size))))
        return
    results = ResultsTable(arguments.out, "streaming", FIELDS)
    for kind, size in wanted:
        if (kind, str(float(size))) in results.done(2):
            continue
        command = [sys.executable, __file__, "--measure", "--out", str(arguments.out)]
        command += ["--streams", kind, "--gigabytes", size]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        results.append([json.loads(done.stdout.splitlines()[-1])])
    results.report(table(results.rows()))


if __name__ == "__main__":
    main()
