"""Measures seconds and memory of training, calibrating, deciding and reporting on a Parquet file.

Each step runs in a process of its own, so that its peak of resident memory is its own. The file
has 30 columns of random numbers, of which three determine the class. A network of one hidden layer
is trained for one epoch.
"""

import argparse
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

FIELDS = ("rows", "step", "file_gigabytes", "seconds", "peak_gigabytes", "average_cost", "date")
STEPS = ("import", "train", "calibrate", "decide", "cost_report")
COLUMNS, MATRIX = 30, [[0, 1], [9, 0]]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this benchmark."""
    parser.add_argument("--rows", default="100000,1000000,10000000", help="sizes of files")


def write_file(path: pathlib.Path, rows: int) -> None:
    """Writes a Parquet file in groups of 65,536 rows."""
    import pyarrow.parquet

    columns = [(f"x{i}", pyarrow.float32()) for i in range(COLUMNS)]
    schema, rng = pyarrow.schema([*columns, ("y", pyarrow.int8())]), np.random.default_rng(0)
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, 2**16):
            x = rng.normal(size=(min(2**16, rows - start), COLUMNS)).astype("float32")
            score = x[:, 0] + x[:, 1] ** 2 + x[:, 2] + rng.normal(size=len(x))
            writer.write_table(pyarrow.table([*x.T, (score > 2).astype("int8")], schema=schema))


def measure(options: argparse.Namespace, results) -> list[str]:
    """Appends a row for each size and step."""
    done = results.done(2)
    for rows in map(int, options.rows.split(",")):
        if (str(rows), STEPS[-1]) in done:
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "rows.parquet")
            write_file(path, rows)
            for step in STEPS:
                command = [sys.executable, __file__, step, str(path)]
                child = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
                seconds, peak, cost = child.stdout.splitlines()[-1].split()
                found = (rows, step, f"{path.stat().st_size / 1e9:.3f}", seconds, peak, cost)
                row = dict(zip(FIELDS, (*found, time.strftime("%Y-%m-%d")), strict=True))
                results.append([row])
    return []


def table(rows: list[dict[str, str]]) -> str:
    """Returns the table of all rows."""
    from results import markdown_table

    head = ["rows", "step", "file, GB", "seconds", "peak of memory, GB"]
    return "\n".join(markdown_table(head, [[row[it] for it in FIELDS[:5]] for row in rows], left=2))


def guide_tables(rows: list) -> dict[str, list[str]]:
    """Returns no further tables."""
    return {}


def _step(step: str, path: pathlib.Path) -> float:
    """Runs one step; returns the average cost that the last one reports, `nan` for others."""
    import keras

    import csdl_keras as csdl
    from csdl_keras.evaluation import cost_report

    model_path, decided_path = path.with_name("model.keras"), path.with_name("decided.npy")
    if step == "train":
        network = keras.Sequential([keras.layers.Dense(64, "relu"), keras.layers.Dense(2)])
        arguments = {"network": network, "epochs": 1, "seed": 0, "verbose": 0}
        csdl.train(path, "y", MATRIX, **arguments).save(model_path)
    elif step == "calibrate":
        csdl.calibrate(keras.saving.load_model(model_path), path, "y")
    elif step == "decide":
        np.save(decided_path, csdl.decide(keras.saving.load_model(model_path), path))
    elif step == "cost_report":
        labels = csdl.datasets.Parquet(path, "y")
        return cost_report({"it": np.load(decided_path)}, labels, MATRIX).rows[0].average_cost
    return float("nan")


if __name__ == "__main__":
    began = time.perf_counter()
    paid = _step(sys.argv[1], pathlib.Path(sys.argv[2]))
    spent = time.perf_counter() - began
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(f"{spent:.1f} {most:.2f} {paid:.4f}")
