"""Reads the committed results, of the benchmarks and of the notebooks."""

import csv
import pathlib

RESULTS = pathlib.Path(__file__).parent / "results"
NOTEBOOKS = pathlib.Path(__file__).parent.parent / "notebooks" / "results"


def rows_of(path: pathlib.Path) -> list[dict[str, str]]:
    """Reads the rows of a CSV file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def read(name: str, folder: str | None = None) -> list[dict[str, str]]:
    """Reads the rows of a benchmark, from a folder of another name if it is given."""
    return rows_of(RESULTS / (folder or name) / f"{name}.csv")
