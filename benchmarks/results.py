"""Writes results to a CSV file row by row, and the tables made from them."""

import csv
import datetime
import importlib.metadata
import os
import pathlib
import platform
import subprocess
import sys
from collections.abc import Iterable, Sequence

import keras

RESULTS = pathlib.Path(__file__).parent / "results"
_PACKAGES = ("csdl_keras", "keras", "tensorflow", "jax", "torch", "numpy", "scipy")
_PACKAGES += ("scikit-learn",)
_PACKAGES += ("costsensitive", "vowpalwabbit", "empulse", "lightgbm", "xgboost", "catboost")
_PACKAGES += ("pytabkit",)


def rows_of(path: pathlib.Path) -> list[dict[str, str]]:
    """Reads the rows of a CSV file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def markdown_table(head: Sequence[str], body: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    """Returns the lines of a table, whose first `left` columns are aligned to the left."""
    rules = ["---"] * left + ["---:"] * (len(head) - left)
    return ["| " + " | ".join(cells) + " |" for cells in (head, rules, *body)]


class Results:
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
        """Writes the table of all rows with what made it; prints it."""
        self.path.with_suffix(".md").write_text(f"{text}\n{self.made_by()}\n")
        print(text)

    def write_table(self, name: str, lines: Sequence[str]) -> None:
        """Writes a table for the documentation, `NAME.md`, with the command that made it."""
        text = "\n".join(lines)
        self.path.with_name(f"{name}.md").write_text(f"{text}\n\n*Made by* {self.made_by()}\n")

    def made_by(self) -> str:
        """Returns the command, versions, commit, machine and date."""
        installed = []
        for name in _PACKAGES:
            try:
                installed.append(f"{name} {importlib.metadata.version(name)}")
            except importlib.metadata.PackageNotFoundError:
                continue
        # If rows name their backend, there may be several.
        backend = "" if "backend" in self.fields else f" on {keras.backend.backend()}"
        describe = ["git", "-C", str(RESULTS), "describe", "--always", "--dirty"]
        commit = subprocess.run(describe, capture_output=True, text=True, check=False).stdout
        return (
            f"`python {' '.join(sys.argv)}`{backend}, "
            f"Python {platform.python_version()}, {', '.join(installed)}, "
            f"commit {commit.strip() or 'unknown'}, "
            f"{os.cpu_count()} cores of {_processor()}, "
            f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}."
        )


def _processor() -> str:
    """Returns the processor's name if the system provides it."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
