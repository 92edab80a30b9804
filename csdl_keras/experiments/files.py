"""The files of a grid, enough to rebuild every table and figure, and to go on from."""

import dataclasses
import pathlib
from collections.abc import Iterable, Mapping, Sequence

import filelock
import numpy as np

from csdl_keras.experiments.cell import Cell, Outcome
from csdl_keras.experiments.choice import Choice
from csdl_keras.experiments.csv_files import Row, read_rows, write_rows
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.experiments.decision_files import DecisionFiles, beta_name, decisions_name
from csdl_keras.experiments.results import CellRow, GridResult
from csdl_keras.training.algorithms import ALGORITHMS

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
#: The columns of `curves.csv` after those of a cell and the epoch, as `fit` names them.
_EPOCH_COLUMNS = ("loss", "average_cost", "val_loss", "val_average_cost")
_RESULTS = [field.name for field in dataclasses.fields(GridResult)]
_CELL = [field.name for field in dataclasses.fields(CellRow)]
_COLUMNS: dict[str, list[str]] = {
    "results.csv": _RESULTS,
    "doubled.csv": _RESULTS,
    "choices.csv": [field.name for field in dataclasses.fields(Choice)],
    "beta_curve.csv": list(_CURVE_COLUMNS),
    "curves.csv": [*_CELL, "epoch", *_EPOCH_COLUMNS],
}
# Columns that may differ between results made with the same choices.
_OUTCOMES = set(
    "cost_seed seed average_cost error_rate validation_cost train_seconds epochs collapsed "
    "tried_again cell backend".split()
)


class GridFiles:
    """Writes the results of a grid into a folder as they come, and finds what is there.

    It writes `results.csv`, `choices.csv` (the values tried on validation examples),
    `beta_curve.csv`, `curves.csv` (losses and costs by epoch of the first matrix and seed; for
    networks that are trained without costs, shares of errors in place of costs),
    `doubled.csv` (results with twice the epochs), and for each data set
    `test_decisions/NAME.npz` with the labels of the test examples, the cost matrices and all
    decisions, which give the cost of each example. Results of other data sets, algorithms,
    matrices and seeds that are already there stay. A file is replaced as a whole or not at all.

    Args:
        folder: the folder, made if it is not there.

    Raises:
        ValueError: if files that are there are damaged or have other columns.
    """

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self._decisions = DecisionFiles(folder)
        for name in _COLUMNS:
            self._read(name)

    def check(self, source: DataSource, matrices: Mapping[int, np.ndarray]) -> None:
        """Raises a ValueError if decisions that are there are damaged or of other matrices.

        Args:
            source: the data.
            matrices: the cost matrices by their seeds.
        """
        self._decisions.read(source, matrices)

    def find(self, name: str, cells: Sequence[Cell]) -> Row | None:
        """Returns the row of `results.csv` or another file that tells of one of these cells."""
        keys = {cell.key for cell in cells}
        return next((row for row in self._read(name) if row["cell"] in keys), None)

    def costs(self, source: DataSource, algorithm: str) -> list[float]:
        """Returns the average test costs of an algorithm on a data set."""
        rows = [it for it in self._read("results.csv") if _is_of(it, source, algorithm)]
        return [float(row["average_cost"]) for row in rows]

    def write_result(self, outcome: Outcome, tried_again: int = 0, curve: bool = False) -> None:
        """Writes a result to `results.csv`, and the decisions behind it.

        Results of the same algorithm for other matrices and seeds stay if they were made with
        the same choices, or were tried again with others.

        Args:
            outcome: the result.
            tried_again: number of better choices that collapsed. Defaults to 0.
            curve: whether to write its curve of epochs too. Defaults to False.
        """
        cell, name = outcome.cell, outcome.cell.algorithm.name
        row = _texts(dataclasses.asdict(GridResult.of(outcome, tried_again)))
        with self._lock():
            arrays = self._decisions.read(cell.source, {cell.cost_seed: cell.matrix})
            rows = self._read("results.csv")
            own = [it for it in rows if _is_of(it, cell.source, name)]
            stale = [it for it in own if _same_place(it, row) or _other_choices(it, row)]
            for it in stale:
                arrays.pop(decisions_name(name, int(it["cost_seed"]), int(it["seed"])), None)
            if outcome.test is not None:
                arrays[decisions_name(name, cell.cost_seed, cell.seed)] = outcome.test
            self._decisions.write(cell.source, arrays)
            self._write("results.csv", [*(it for it in rows if it not in stale), row])
            if curve:
                self._write_curve(outcome, row)

    def write_doubled(self, outcome: Outcome) -> None:
        """Writes the result of a training with twice the epochs, and its decisions."""
        cell, name = outcome.cell, outcome.cell.algorithm.name
        row = _texts(dataclasses.asdict(GridResult.of(outcome)))
        with self._lock():
            self._keep(outcome, f"{decisions_name(name, cell.cost_seed, cell.seed)}_doubled")
            self._replace("doubled.csv", cell.source, name, [row])

    def write_choices(
        self, source: DataSource, algorithm: str, choices: Sequence[Choice], complete: bool
    ) -> None:
        """Writes the values of one choice of an algorithm.

        Args:
            source: the data.
            algorithm: name of the algorithm.
            choices: the values tried on validation examples, all of one choice.
            complete: whether these are all of them. If so, other values of this choice that are
                there are removed; else they stay, since the search may still come to them.
        """
        tried = [dataclasses.asdict(choice) for choice in choices]
        parameter, cells = tried[0]["parameter"], {choice.cell for choice in choices}
        with self._lock():
            kept = [
                it
                for it in self._read("choices.csv")
                if not (_is_of(it, source, algorithm) and it["parameter"] == parameter)
                or (not complete and it["cell"] not in cells)
            ]
            self._write("choices.csv", [*kept, *map(_texts, tried)])
            if (parameter, algorithm) == ("beta", CURVE_ALGORITHM):
                points = [
                    {column: choice[field] for column, field in _CURVE_COLUMNS.items()}
                    for choice in tried
                ]
                self._replace("beta_curve.csv", source, algorithm, map(_texts, points))

    def write_point(self, outcome: Outcome) -> None:
        """Writes the test decisions of a point of the curve of beta."""
        cell, beta = outcome.cell, outcome.cell.settings.pretraining.beta
        with self._lock():
            self._keep(outcome, beta_name(cell.algorithm.name, cell.cost_seed, beta))

    def has_point(self, cell: Cell) -> bool:
        """Tells whether the decisions of a point of the curve of beta are on file."""
        name = beta_name(cell.algorithm.name, cell.cost_seed, cell.settings.pretraining.beta)
        return name in self._decisions.read(cell.source, {})

    def _keep(self, outcome: Outcome, name: str) -> None:
        """Adds the decisions of an outcome, if training has not diverged, to those on file."""
        if outcome.test is not None:
            cell = outcome.cell
            arrays = self._decisions.read(cell.source, {cell.cost_seed: cell.matrix})
            self._decisions.write(cell.source, {**arrays, name: outcome.test})

    def _write_curve(self, outcome: Outcome, row: Row) -> None:
        """Writes the losses and costs of each epoch, for which a network keeps them."""
        columns = [outcome.history.get(name, []) for name in _EPOCH_COLUMNS]
        lines = [
            {name: row[name] for name in _CELL}
            | {"epoch": str(epoch)}
            | _texts(dict(zip(_EPOCH_COLUMNS, values, strict=True)))
            for epoch, values in enumerate(zip(*columns, strict=False), start=1)
        ]
        self._replace("curves.csv", outcome.cell.source, outcome.cell.algorithm.name, lines)

    def _replace(self, name: str, source: DataSource, algorithm: str, rows: Iterable[Row]) -> None:
        """Writes rows of an algorithm on a data set in place of those that are there."""
        kept = [it for it in self._read(name) if not _is_of(it, source, algorithm)]
        self._write(name, [*kept, *rows])

    def _lock(self) -> filelock.BaseFileLock:
        return filelock.FileLock(self.folder / ".lock")

    def _read(self, name: str) -> list[Row]:
        path, columns = self.folder / name, _COLUMNS[name]
        rows = read_rows(path)
        if rows and list(rows[0]) != columns:
            raise ValueError(
                f"Expected the columns {','.join(columns)} in {path}; it has "
                f"{','.join(rows[0])}. Take another folder."
            )
        return rows

    def _write(self, name: str, rows: Iterable[Row]) -> None:
        write_rows(self.folder / name, _COLUMNS[name], sorted(rows, key=_position))


def _texts(row: Row) -> Row:
    """Returns a row as a CSV file holds it."""
    return {name: "" if value is None else str(value) for name, value in row.items()}


def _is_of(row: Row, source: DataSource, algorithm: str) -> bool:
    """Returns True if a row belongs to an algorithm on that data set."""
    place = row["dataset"], row["imbalanced"], row["algorithm"]
    return place == (source.name, str(source.imbalanced), algorithm)


def _same_place(row: Row, other: Row) -> bool:
    """Returns True if two results of an algorithm are of the same matrix and training seed."""
    return (row["cost_seed"], row["seed"]) == (other["cost_seed"], other["seed"])


def _other_choices(row: Row, other: Row) -> bool:
    """Returns True if two results follow from different choices, none of them tried again."""
    again = row["tried_again"] != "0" or other["tried_again"] != "0"
    return not again and any(row[name] != other[name] for name in row.keys() - _OUTCOMES)


def _position(row: Row) -> tuple:
    """Returns the sort key of a row; rows with equal keys keep their order."""
    place = _ORDER.get(row["algorithm"], len(_ORDER))
    seed = int(row["seed"]) if "seed" in row else 0
    return row["dataset"], row["imbalanced"], place, int(row["cost_seed"]), seed
