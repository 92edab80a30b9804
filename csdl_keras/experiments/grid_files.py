"""The files that a grid leaves, enough to rebuild every table and figure."""

import csv
import dataclasses
import io
import pathlib
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from csdl_keras._array_file import read_npz
from csdl_keras._optional import optional_module
from csdl_keras._replace_file import replace_file
from csdl_keras.algorithms import ALGORITHMS
from csdl_keras.experiments.choice import Choice
from csdl_keras.experiments.data_source import results_path
from csdl_keras.experiments.grid_result import GridResult
from csdl_keras.experiments.outcome import Outcome

Row = dict[str, Any]

_CURVE = "csdnn"
_ORDER = {name: index for index, name in enumerate(ALGORITHMS)}


class GridFiles:
    """Writes results of one data set after the other into a folder.

    `results.csv`, `choices.csv` (what was tried on validation examples),
    `beta_curve.csv`, and for each data set `test_decisions/NAME.npz` with the
    labels of the test examples, the cost matrices and all decisions, from which
    follows what each example cost. Rows of other data sets and algorithms that
    are there already stay. A file is replaced as a whole or not at all.

    Args:
        folder: the folder, made if it is not there.
    """

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        (folder / "test_decisions").mkdir(parents=True, exist_ok=True)

    def write(
        self, outcomes: Sequence[Outcome], choices: Sequence[Choice], curve: Sequence[Outcome]
    ) -> None:
        """Writes all results of a data set, in an order that does not depend on how they came.

        Args:
            outcomes: those of the table.
            choices: what was tried on validation examples.
            curve: outcomes of the curve of beta.
        """
        with optional_module("filelock", "compare").FileLock(self.folder / ".lock"):
            self._write(outcomes, choices, curve)

    def _write(
        self, outcomes: Sequence[Outcome], choices: Sequence[Choice], curve: Sequence[Outcome]
    ) -> None:
        source = outcomes[0].cell.source
        new = {outcome.cell.algorithm for outcome in outcomes}

        def stays(row: Row) -> bool:
            same = (row["dataset"], row["imbalanced"]) == (source.name, str(source.imbalanced))
            return not (same and row["algorithm"] in new)

        def replace_rows(name: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
            path = self.folder / name
            kept = [row for row in read_rows(path) if stays(row)]
            if kept and list(kept[0]) != list(columns):
                raise ValueError(
                    f"Expected the columns {','.join(columns)} in {path}; it has "
                    f"{','.join(kept[0])}. Take another folder."
                )
            found = [*kept, *({**row, "imbalanced": str(row["imbalanced"])} for row in rows)]
            write_rows(path, columns, sorted(found, key=_position))

        results = [dataclasses.asdict(GridResult.of(outcome)) for outcome in outcomes]
        replace_rows("results.csv", _columns(GridResult), results)
        replace_rows("choices.csv", _columns(Choice), map(dataclasses.asdict, choices))
        points = [_point(choice) for choice in choices if _is_point(choice)]
        replace_rows("beta_curve.csv", CURVE_COLUMNS, points)
        self._write_decisions(outcomes, curve)

    def _write_decisions(self, outcomes: Sequence[Outcome], curve: Sequence[Outcome]) -> None:
        path = results_path(self.folder, outcomes[0].cell.source.label)
        new = {outcome.cell.algorithm for outcome in outcomes}
        arrays: dict[str, Any] = {}
        if path.exists():
            found = read_npz(path)
            arrays = {name: found[name] for name in found if _algorithm(name) not in new}
        labels = outcomes[0].cell.source.load().y_test
        arrays["labels"] = labels.astype(np.uint8 if labels.max() < 256 else np.uint16)
        for outcome in outcomes:
            cell = outcome.cell
            arrays[f"matrix_{cell.cost_seed}"] = cell.matrix
            if outcome.test is not None:
                arrays[f"{cell.algorithm}_{cell.cost_seed}"] = outcome.test
        for outcome in curve:
            cell = outcome.cell
            if outcome.test is not None:
                arrays[beta_name(cell.algorithm, cell.cost_seed, cell.settings.beta)] = outcome.test
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **{name: arrays[name] for name in sorted(arrays)})
        replace_file(path, buffer.getvalue())


CURVE_COLUMNS = (
    "dataset",
    "imbalanced",
    "algorithm",
    "cost_seed",
    "beta",
    "test_cost",
    "standard_error",
    "validation_cost",
)


def on_curve(outcome: Outcome) -> bool:
    """Whether the outcome is of the algorithm whose curve of beta is kept."""
    return outcome.cell.algorithm == _CURVE


def beta_name(algorithm: str, cost_seed: int, beta: float) -> str:
    """The name of the decisions of a point of the curve of beta."""
    return f"{algorithm}_{cost_seed}_beta_{beta:g}"


def _algorithm(array: str) -> str:
    """The algorithm whose decisions an array holds."""
    return re.sub(r"_\d+(_beta_.*)?$", "", array)


def _is_point(choice: Choice) -> bool:
    return choice.parameter == "beta" and choice.algorithm == _CURVE


def _point(choice: Choice) -> Row:
    """A point of the curve of beta."""
    return {
        "dataset": choice.dataset,
        "imbalanced": choice.imbalanced,
        "algorithm": choice.algorithm,
        "cost_seed": choice.cost_seed,
        "beta": choice.value,
        "test_cost": choice.test_cost,
        "standard_error": choice.test_cost_error,
        "validation_cost": choice.validation,
    }


def _columns(of: type) -> list[str]:
    return [field.name for field in dataclasses.fields(of)]


def _position(row: Row) -> tuple:
    """Where a row belongs; Python's sort keeps the order of those at the same place."""
    place = _ORDER.get(row["algorithm"], len(_ORDER))
    return row["dataset"], row["imbalanced"], place, int(row["cost_seed"])


def read_rows(path: pathlib.Path) -> list[Row]:
    """The rows of a CSV file, none if there is no file; a ValueError if one is cut short."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
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
