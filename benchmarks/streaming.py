"""Measures pre-training and training on streams of any length, in the memory of a few batches.

    python benchmarks/streaming.py --out benchmarks/results/streaming

A `keras.utils.PyDataset` or a `tf.data.Dataset` generates batches of 1,000 examples with
784 inputs and 10 costs on request and keeps none. `pretrain` reads the stream once to
check it and once for each of two layers, `fit` once. Each row is measured in its own
process: seconds, also relative to those of generating the batches alone, and the peak of
memory, also relative to the size of the stream. Writes `streaming.csv` row by row, from
which a later call continues, and `streaming.md`.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from formats import markdown_table
from results_table import ResultsTable, parser

import csdl_keras as csdl

FIELDS = ("stream", "gigabytes", "seconds", "making_seconds", "peak_gigabytes")
STREAMS = ("PyDataset", "tf.data")
BATCH_SIZE, FEATURES, DECISIONS = 1000, 784, 10
HIDDEN_UNITS = (32, 16)
PASSES = 2 + len(HIDDEN_UNITS)
BATCH_GIGABYTES = 4 * BATCH_SIZE * (FEATURES + DECISIONS) / 1e9


class Batches(keras.utils.PyDataset):
    """Batches `(x, costs)` that are generated on request."""

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
    """Returns the same batches as a `tf.data.Dataset`."""
    import tensorflow as tf

    def batch(index: Any) -> tuple[Any, Any]:
        shapes = (BATCH_SIZE, FEATURES), (BATCH_SIZE, DECISIONS)
        x, costs = (tf.random.stateless_uniform(shape, (index, 0)) for shape in shapes)
        return x, costs

    return tf.data.Dataset.range(number).map(batch).prefetch(2)


def make_stream(kind: str, number: int) -> Any:
    """Returns a stream of that kind and number of batches."""
    return Batches(number) if kind == "PyDataset" else tensorflow_batches(number)


def train(stream: Any) -> None:
    """Pre-trains two layers and trains the network, an epoch each."""
    model = csdl.models.mlp((FEATURES,), DECISIONS, HIDDEN_UNITS, output="cost", seed=0)
    csdl.pretrain(model, stream, beta=0.25, epochs=1, seed=0, verbose=0)
    model.compile("adam", loss=csdl.SOSRLoss(), metrics=[csdl.AverageCost()])
    model.fit(stream, epochs=1, verbose=0)


def read(stream: Any) -> None:
    """Generates every batch as often as training does, and does nothing with it."""
    for _ in range(PASSES):
        indices = range(len(stream)) if isinstance(stream, Batches) else stream
        for index in indices:
            _ = stream[index] if isinstance(stream, Batches) else index


def peak_gigabytes() -> float:
    """Returns the peak memory of this process."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def measure(kind: str, gigabytes: float) -> dict[str, Any]:
    """Measures one row in this process."""
    stream = make_stream(kind, round(gigabytes / BATCH_GIGABYTES))
    times = [time.perf_counter()]
    for use in (read, train):
        use(stream)
        times.append(time.perf_counter())
    making, training = np.diff(times)
    values = (kind, gigabytes, round(training, 1), round(making, 1), round(peak_gigabytes(), 3))
    return dict(zip(FIELDS, values, strict=True))


def table(rows: Sequence[dict]) -> str:
    """Formats the rows as a table of ratios in Markdown."""
    head = ("stream", "GB", "seconds", "/ making the batches", "peak memory, GB", "/ the stream")
    body = []
    for row in rows:
        size, seconds, making, peak = (float(row[field]) for field in FIELDS[1:])
        numbers = (f"{size:g}", f"{seconds:.0f}", f"{seconds / making:.1f}")
        body.append([row["stream"], *numbers, f"{peak:.2f}", f"{peak / size:.2f}"])
    return "\n".join(markdown_table(head, body)) + "\n"


def main() -> None:
    """Runs the program."""
    options = parser(__doc__)
    options.add_argument("--streams", default=",".join(STREAMS))
    options.add_argument("--gigabytes", default="0.5,2")
    options.add_argument("--measure", action="store_true", help="one row, in this process")
    arguments = options.parse_args()
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
