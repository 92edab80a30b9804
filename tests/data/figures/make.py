"""Writes the figures of this folder: `python -m tests.data.figures.make FOLDER...`, on TensorFlow.

Each argument is a folder that a command of `COMMANDS` wrote, in their order. Of its tables the
columns of figures are kept, and those that tell the rows apart; `machine.json` says where and
with which versions they were made. `tests/kept_figures_test.py` runs the commands again.
"""

import csv
import hashlib
import importlib.metadata
import json
import os
import pathlib
import platform
import subprocess
import sys

FOLDER = pathlib.Path(__file__).parent
COMMANDS = {
    "compare_digits": [
        *("compare", "--dataset", "digits", "--cost-seeds", "2", "--epochs", "12", "--jobs", "1"),
        *("--algorithms", "dnn_bayes,csdnn,sdae_sosr,cnn_sosr,csosr,cost_model"),
    ],
    "compare_mnist_5k": [
        *("compare", "--dataset", "mnist_5k", "--cost-seeds", "2", "--epochs", "3", "--jobs", "1"),
        *("--algorithms", "dnn_bayes,cnn_bayes,cnn_sosr,calibrated_bayes"),
    ],
    "table2_tiny": ["table2", "--profile", "tiny"],
}
# For each table the columns that tell its rows apart, and its figures.
COLUMNS = {
    "results": (
        ["dataset", "imbalanced", "algorithm", "cost_seed"],
        ["average_cost", "error_rate", "validation_cost", "epochs"],
    ),
    "choices": (
        ["dataset", "imbalanced", "algorithm", "cost_seed", "parameter", "value"],
        ["validation", "test_cost"],
    ),
    "beta_curve": (
        ["dataset", "imbalanced", "algorithm", "cost_seed", "beta"],
        ["test_cost", "standard_error", "validation_cost"],
    ),
}

Table = dict[tuple[str, ...], dict[str, float]]


def read_table(path: pathlib.Path, name: str) -> Table:
    """The figures of each row of a table."""
    keys, figures = COLUMNS[name]
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        tuple(row[key] for key in keys): {key: float(row[key] or "nan") for key in figures}
        for row in rows
    }


def machine() -> dict[str, str]:
    """What rounding depends on: the processor, the cores in use, the libraries, switches."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    kept = ("model name", "cpu family", "model", "flags")
    cpu = sorted({line for line in lines if line.partition("\t")[0].strip() in kept})
    libraries = ("keras", "numpy", "scikit-learn", "scipy", "tensorflow")
    return {
        "processor": hashlib.sha256("\n".join([platform.machine(), *cpu]).encode()).hexdigest(),
        "cores": str(os.cpu_count()),
        "oneDNN": os.environ.get("TF_ENABLE_ONEDNN_OPTS", "1"),
        **{name: importlib.metadata.version(name) for name in libraries},
    }


def main() -> None:
    """Copies the figures of finished runs, and notes the machine."""
    for name, folder in zip(COMMANDS, map(pathlib.Path, sys.argv[1:]), strict=True):
        for table, (keys, figures) in COLUMNS.items():
            source = folder / f"{table}.csv"
            if not source.exists():
                continue
            with source.open(newline="") as file:
                rows = list(csv.DictReader(file))
            with (FOLDER / f"{name}.{table}.csv").open("w", newline="") as file:
                writer = csv.DictWriter(file, [*keys, *figures], extrasaction="ignore")
                writer.writeheader()
                writer.writerows(rows)
    git = ["git", "log", "-1", "--format=%H", "--", "csdl_keras"]
    commit = subprocess.run(git, cwd=FOLDER.parents[2], capture_output=True, text=True, check=True)
    made = {"commit": commit.stdout.strip(), **machine()}
    (FOLDER / "machine.json").write_text(json.dumps(made, indent=2) + "\n")


if __name__ == "__main__":
    main()
