"""The files of a run, enough to rebuild every table and figure."""

import csv
import dataclasses
import io
import pathlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import filelock
import numpy as np

from csdl_keras._utils.array_file import read_npz
from csdl_keras._utils.files import replace_file
from csdl_keras.experiments.cell import Outcome
from csdl_keras.experiments.data_source import DataSource, results_path
from csdl_keras.experiments.results import Choice, GridResult
from csdl_keras.training.algorithms import ALGORITHMS

Row = dict[str, Any]

#: The algorithm whose curve of beta is kept.
CURVE_ALGORITHM = "csdnn"

_ORDER = {name: index for index, name in enumerate(ALGORITHMS)}
_CURVE_COLUMNS = {
    "dataset": "dataset",
    "imbalanced": "imbalanced",
    "algorithm": "algorithm",
    "cost_seed": "cost_seed",
    "beta": "value",
    "test_cost": "test_cost",
    "standard_error": "test_cost_error",
    "validation_cost": "validation",
}
_COLUMNS: dict[str, list[str]] = {
    "results.csv": [field.name for field in dataclasses.fields(GridResult)],
    "choices.csv": [field.name for field in dataclasses.fields(Choice)],
    "beta_curve.csv": list(_CURVE_COLUMNS),
}
# Columns that may differ between results made with the same choices.
_OUTCOMES = set("cost_seed average_cost error_rate validation_cost train_seconds epochs".split())


class GridFiles:
    """Writes the results of a grid into a folder as they come.

    It writes `results.csv`, `choices.csv` (the values tried on validation
    examples), `beta_curve.csv`, and for each data set `test_decisions/NAME.npz`
    with the labels of the test examples, the cost matrices and all decisions, which
    give the cost of each example. Results of other data sets, algorithms and
    matrices that are already there stay. A file is replaced as a whole or not
    at all.

    Args:
        folder: the folder, made if it is not there.

    Raises:
        ValueError: if files that are there are damaged or have other columns.
    """

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        (folder / "test_decisions").mkdir(parents=True, exist_ok=True)
        for name in _COLUMNS:
            self._read(name)

    def check(self, source: DataSource, matrices: Mapping[int, np.ndarray]) -> None:
        """Raises a ValueError if decisions that are there are damaged or of other matrices.

        Args:
            source: the data.
            matrices: the cost matrices by their seeds.
        """
        self._arrays(source, matrices)

    def write_result(self, outcome: Outcome) -> None:
        """Writes a result to `results.csv`, and the decisions behind it.

        Results of the same algorithm for other matrices stay if they were made with
        the same choices.
        """
        cell, name = outcome.cell, outcome.cell.algorithm.name
        row = _texts(dataclasses.asdict(GridResult.of(outcome)))
        with self._lock():
            arrays = self._arrays(cell.source, {cell.cost_seed: cell.matrix})
            rows = self._read("results.csv")
            own = [it for it in rows if _is_of(it, cell.source, [name])]
            stale = [
                it
                for it in own
                if it["cost_seed"] == row["cost_seed"]
                or any(it[column] != row[column] for column in row.keys() - _OUTCOMES)
            ]
            for it in stale:
                arrays.pop(f"{name}_{it['cost_seed']}", None)
            if outcome.test is not None:
                arrays[f"{name}_{cell.cost_seed}"] = outcome.test
            self._write_arrays(cell.source, arrays)
            self._write("results.csv", [*(it for it in rows if it not in stale), row])

    def write_choices(
        self,
        source: DataSource,
        algorithms: Sequence[str],
        choices: Sequence[Choice],
        curve: Sequence[Outcome],
    ) -> None:
        """Writes what was tried for some algorithms on a data set, and replaces what was there.

        Args:
            source: the data.
            algorithms: names of the algorithms.
            choices: the values tried on validation examples.
            curve: outcomes of the points of the curve of beta.
        """
        tried = [dataclasses.asdict(choice) for choice in choices]
        points = [
            {column: choice[field] for column, field in _CURVE_COLUMNS.items()}
            for choice in tried
            if (choice["parameter"], choice["algorithm"]) == ("beta", CURVE_ALGORITHM)
        ]
        new = {"choices.csv": tried, "beta_curve.csv": points}
        with self._lock():
            matrices = {outcome.cell.cost_seed: outcome.cell.matrix for outcome in curve}
            arrays = {
                name: array
                for name, array in self._arrays(source, matrices).items()
                if not ("_beta_" in name and _algorithm(name) in algorithms)
            }
            for outcome in curve:
                cell = outcome.cell
                if outcome.test is not None:
                    name = beta_name(
                        cell.algorithm.name, cell.cost_seed, cell.settings.pretraining.beta
                    )
                    arrays[name] = outcome.test
            if curve or self._path(source).exists():
                self._write_arrays(source, arrays)
            for name, rows in new.items():
                kept = [it for it in self._read(name) if not _is_of(it, source, algorithms)]
                self._write(name, [*kept, *map(_texts, rows)])

    def _lock(self) -> filelock.BaseFileLock:
        return filelock.FileLock(self.folder / ".lock")

    def _path(self, source: DataSource) -> pathlib.Path:
        return results_path(self.folder, source.label)

    def _read(self, name: str) -> list[Row]:
        path, columns = self.folder / name, _COLUMNS[name]
        rows = read_rows(path)
        if rows and list(rows[0]) != list(columns):
            raise ValueError(
                f"Expected the columns {','.join(columns)} in {path}; it has "
                f"{','.join(rows[0])}. Take another folder."
            )
        return rows

    def _write(self, name: str, rows: Iterable[Row]) -> None:
        write_rows(self.folder / name, _COLUMNS[name], sorted(rows, key=_position))

    def _arrays(
        self, source: DataSource, matrices: Mapping[int, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Returns the arrays of a file, with labels and cost matrices, which must be the same."""
        path = self._path(source)
        arrays = dict(read_npz(path)) if path.exists() else {}
        labels = source.load().y_test
        new = {"labels": labels.astype(np.uint8 if labels.max() < 256 else np.uint16)}
        new |= {f"matrix_{seed}": matrix for seed, matrix in matrices.items()}
        for name, array in new.items():
            if not np.array_equal(arrays.setdefault(name, array), array):
                raise ValueError(
                    f"Expected {path} to hold results of the same test examples and cost "
                    f"matrices; its {name!r} is another one. Take another folder."
                )
        return arrays

    def _write_arrays(self, source: DataSource, arrays: dict[str, Any]) -> None:
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **{name: arrays[name] for name in sorted(arrays)})
        replace_file(self._path(source), buffer.getvalue())


def beta_name(algorithm: str, cost_seed: int, beta: float) -> str:
    """Returns the name of the array of decisions at a point of the curve of beta."""
    return f"{algorithm}_{cost_seed}_beta_{beta:g}"


def _algorithm(array: str) -> str:
    """Returns the algorithm whose decisions an array of this name holds."""
    return re.sub(r"_\d+(_beta_.*)?$", "", array)


def _texts(row: Row) -> Row:
    """Returns a row as a CSV file holds it."""
    return {name: "" if value is None else str(value) for name, value in row.items()}


def _is_of(row: Row, source: DataSource, algorithms: Sequence[str]) -> bool:
    """Returns True if a row belongs to one of these algorithms on that data set."""
    same = (row["dataset"], row["imbalanced"]) == (source.name, str(source.imbalanced))
    return same and row["algorithm"] in algorithms


def _position(row: Row) -> tuple:
    """Returns the sort key of a row; rows with equal keys keep their order."""
    place = _ORDER.get(row["algorithm"], len(_ORDER))
    return row["dataset"], row["imbalanced"], place, int(row["cost_seed"])


def read_rows(path: pathlib.Path, columns: Sequence[str] = ()) -> list[Row]:
    """Reads the rows of a CSV file, none if there is no file.

    Raises:
        ValueError: if the file is damaged or lacks one of `columns`.
    """
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        try:
            rows, header = list(reader), reader.fieldnames or []
        except csv.Error as error:
            raise ValueError(f"Expected {path} to be a CSV file; {error}.") from error
    missing = [name for name in columns if name not in header]
    if missing:
        raise ValueError(
            f"Expected {path} to have the columns {', '.join(missing)}; "
            f"received {', '.join(header) or 'no header'}."
        )
    for number, row in enumerate(rows, start=1):
        if None in row or None in row.values():
            raise ValueError(
                f"Expected a value for each column in row {number} of {path}; received "
                f"{len([cell for cell in row.values() if cell is not None])}."
            )
    return rows


def write_rows(path: pathlib.Path, columns: Sequence[str], rows: Iterable[Row]) -> None:
    """Writes a CSV file, whole or not at all."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    replace_file(path, buffer.getvalue().encode())
