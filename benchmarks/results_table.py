"""Writes results to a CSV file row by row, and the table made from them."""

import argparse
import csv
import datetime
import importlib.metadata
import os
import pathlib
import platform
import sys
from collections.abc import Sequence

import keras
from committed import rows_of

from csdl_keras.experiments.code_version import code_version

_PACKAGES = ("keras", "tensorflow", "jax", "torch", "numpy", "scipy", "scikit-learn")
_PACKAGES += ("costsensitive", "vowpalwabbit", "empulse", "lightgbm", "xgboost", "catboost")


def parser(description: str) -> argparse.ArgumentParser:
    """Returns a parser with `--out`, described by the first line of a program's docstring."""
    made = argparse.ArgumentParser(description=description.splitlines()[0])
    made.add_argument("--out", type=pathlib.Path, required=True, help="folder of the results")
    return made


class ResultsTable:
    """Files `NAME.csv` and `NAME.md` in a folder, which is created if it does not exist.

    Args:
        folder: the folder.
        name: name of the benchmark.
        fields: columns of the CSV file.
    """

    def __init__(self, folder: pathlib.Path, name: str, fields: Sequence[str]):
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{name}.csv"
        self.fields = tuple(fields)

    def rows(self) -> list[dict[str, str]]:
        """Returns all rows so far."""
        return rows_of(self.path) if self.path.exists() else []

    def done(self, size: int) -> set[tuple[str, ...]]:
        """Returns the first `size` columns of the rows so far."""
        return {tuple(row[field] for field in self.fields[:size]) for row in self.rows()}

    def append(self, rows: Sequence[dict]) -> None:
        """Adds rows to the file."""
        new = not self.path.exists()
        with self.path.open("a", newline="") as file:
            writer = csv.DictWriter(file, self.fields)
            if new:
                writer.writeheader()
            writer.writerows(rows)

    def write(self, rows: Sequence[dict]) -> None:
        """Replaces all rows."""
        self.path.unlink(missing_ok=True)
        self.append(rows)

    def report(self, text: str) -> None:
        """Writes the table with the command, versions, code and date that made it; prints it."""
        installed = []
        for name in _PACKAGES:
            try:
                installed.append(f"{name} {importlib.metadata.version(name)}")
            except importlib.metadata.PackageNotFoundError:
                continue
        # Rows that name their backend may come from several.
        backend = "" if "backend" in self.fields else f" on {keras.backend.backend()}"
        code = " ".join(f"{part}-{digest}" for part, digest in code_version().items())
        note = (
            f"`python {' '.join(sys.argv)}`{backend}, "
            f"Python {platform.python_version()}, {', '.join(installed)}, code {code}, "
            f"{os.cpu_count()} cores of {_processor()}, "
            f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}.\n"
        )
        self.path.with_suffix(".md").write_text(f"{text}\n{note}")
        print(text)


def _processor() -> str:
    """Returns the processor's name if the system provides it."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
