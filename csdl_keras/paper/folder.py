"""The folder of a grid's results, from which tables and figures are made and runs continue."""

import io
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import filelock
import keras
import numpy as np
import pandas

from csdl_keras._utils.files import replace_file
from csdl_keras.paper.cells import Cell, Outcome
from csdl_keras.paper.results import Decisions, beta_name, decisions_name
from csdl_keras.training.algorithms import ALGORITHMS

#: The algorithm whose curve of beta is recorded.
CURVE_ALGORITHM = "csdnn"

_CELL = ["dataset", "imbalanced", "algorithm", "cost_seed"]
#: Columns of settings, see `Settings.columns`.
_CHOICES = "variant hard_hinge optimizer_name learning_rate hidden_units batch_size".split()
_CHOICES += "pretraining_epochs pretraining_learning_rate corruption beta tied_weights".split()
_CHOICES += ["penalty", "gamma_factor"]
_RESULTS = [*_CELL, "average_cost", "error_rate", "validation_cost", "train_seconds", "epochs"]
_RESULTS += ["train_size", "seed", "backend", "collapsed", "tried_again", "cell", "test_size"]
_RESULTS += ["cost_scale", "drop_rate", "grayscale", *_CHOICES]
_TRIED = [*_CELL, "parameter", "value", "given", "criterion", "validation", "collapsed", "chosen"]
_TRIED += ["edge", "epochs", "train_seconds", "test_cost", "test_cost_error", "cell"]
#: The columns of `beta_curve.csv`, and their sources in `choices.csv`.
_CURVE = dict.fromkeys(_CELL) | {"beta": "value", "test_cost": "test_cost"}
_CURVE |= {"standard_error": "test_cost_error", "validation_cost": "validation"}
#: The columns of `curves.csv` after those of a cell and the epoch, by their names in `fit`.
_EPOCH = ["loss", "average_cost", "val_loss", "val_average_cost"]

#: The tables of a folder and their columns. They must not change, so that old folders stay valid.
COLUMNS: dict[str, list[str]] = {
    "results.csv": _RESULTS,
    "doubled.csv": _RESULTS,
    "choices.csv": _TRIED,
    "beta_curve.csv": list(_CURVE),
    "curves.csv": [*_CELL, "epoch", *_EPOCH],
}
_ORDER = {name: index for index, name in enumerate(ALGORITHMS)}

Row = Mapping[str, Any]


class Folder:
    """Writes the results of a grid as they come, keeps existing ones, and finds them again."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        self._lock = filelock.FileLock(path / ".lock")
        for name in COLUMNS:
            self.rows(name)

    def rows(self, name: str) -> pandas.DataFrame:
        """Returns a table with values as text, so that rows are written unchanged."""
        path, columns = self.path / name, COLUMNS[name]
        if not path.exists():
            return pandas.DataFrame(columns=columns, dtype=str)
        frame = pandas.read_csv(path, dtype=str, keep_default_na=False)
        if list(frame) != columns:
            raise ValueError(
                f"{path} has the columns {','.join(frame)} instead of {','.join(columns)}. Choose "
                "another folder."
            )
        return frame

    def find(self, name: str, cells: Sequence[Cell]) -> dict[str, str] | None:
        rows = self.rows(name)
        found = rows[rows["cell"].isin([cell.key for cell in cells])]
        return None if found.empty else found.iloc[0].to_dict()

    def write_result(
        self, outcome: Outcome, tried_again: int = 0, curve: bool = False, doubled: bool = False
    ) -> None:
        """Writes a result, its decisions and, if `curve`, its learning curve."""
        cell = outcome.cell
        name = decisions_name(cell.algorithm.name, cell.cost_seed, cell.seed)
        self._keep(outcome, name + "_doubled" * doubled)
        table, by = ("doubled.csv", _CELL[:3]) if doubled else ("results.csv", [*_CELL, "seed"])
        self._replace(table, [result_row(outcome, tried_again)], by)
        if curve:
            columns = [outcome.history.get(it, []) for it in _EPOCH]
            lines = [
                {**cell.place, "epoch": epoch, **dict(zip(_EPOCH, values, strict=True))}
                for epoch, values in enumerate(zip(*columns, strict=False), start=1)
            ]
            self._replace("curves.csv", lines, _CELL)

    def write_choices(self, tried: Sequence[Row]) -> None:
        """Writes the tried values of one setting of an algorithm, and replaces existing ones."""
        self._replace("choices.csv", tried, [*_CELL[:3], "parameter"])
        if (tried[0]["parameter"], tried[0]["algorithm"]) == ("beta", CURVE_ALGORITHM):
            points = [{to: row[of or to] for to, of in _CURVE.items()} for row in tried]
            self._replace("beta_curve.csv", points, _CELL[:3])

    def write_point(self, outcome: Outcome) -> None:
        cell, beta = outcome.cell, outcome.cell.settings.pretraining.beta
        self._keep(outcome, beta_name(cell.algorithm.name, cell.cost_seed, beta))

    def decisions(self, cell: Cell) -> Decisions:
        """Returns the decisions on a data set, after checking its examples and matrix."""
        decisions = Decisions(self.path, cell.source.label)
        named = {"labels": cell.source.load().y_test, f"matrix_{cell.cost_seed}": cell.matrix}
        for name, array in named.items():
            if not np.array_equal(decisions.arrays.setdefault(name, array), array):
                raise ValueError(
                    f"{decisions.path} has results of different test examples or cost matrices: "
                    f"its {name!r} differs. Choose another folder."
                )
        return decisions

    def _keep(self, outcome: Outcome, name: str) -> None:
        """Writes test decisions, or removes existing ones if training diverged."""
        with self._lock:
            decisions = self.decisions(outcome.cell)
            arrays = {it: each for it, each in decisions.arrays.items() if it != name}
            if outcome.decisions:
                arrays[name] = outcome.decisions["test"]
            small = {
                name: it if it.dtype.kind == "f" else it.astype(np.min_scalar_type(it.max()))
                for name, it in sorted(arrays.items())
            }
            buffer = io.BytesIO()
            np.savez_compressed(buffer, **small)  # type: ignore[arg-type]
            decisions.path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(decisions.path, buffer.getvalue())

    def _replace(self, name: str, new: Sequence[Row], by: list[str]) -> None:
        """Writes rows in a fixed order, and replaces those with the same values in columns `by`."""
        frame = pandas.DataFrame(list(new), columns=COLUMNS[name], dtype=object)
        frame = frame.fillna("").astype(str)
        with self._lock:
            rows = self.rows(name)
            places, replaced = (pandas.MultiIndex.from_frame(it[by]) for it in (rows, frame))
            frame = pandas.concat([rows[~places.isin(replaced)], frame])
            order = [it for it in (*_CELL, "seed") if it in frame]
            frame = frame.sort_values(order, key=_sort_key, kind="stable", ignore_index=True)
            content = frame.to_csv(index=False, lineterminator="\n")
            replace_file(self.path / name, content.encode())


def _sort_key(column: pandas.Series) -> pandas.Series:
    if column.name == "algorithm":
        return column.map(_ORDER)
    return column.astype(int) if column.name in ("cost_seed", "seed") else column


def result_row(outcome: Outcome, tried_again: int = 0) -> Row:
    """Returns the row of an outcome in `results.csv`; settings that it lacks are `None`."""
    cell, data = outcome.cell, outcome.cell.source.load()
    choices = cell.settings.columns(cell.algorithm)
    if "hidden_units" in choices:
        choices["hidden_units"] = "-".join(map(str, choices["hidden_units"]))
    is_network = cell.algorithm.body_kind.is_network
    return {
        **dict.fromkeys(_CHOICES),
        **choices,
        **cell.place,
        "average_cost": float(outcome.costs("test").mean()),
        "error_rate": outcome.error("test"),
        "validation_cost": float(outcome.costs("val").mean()),
        "train_seconds": outcome.train_seconds,
        "epochs": outcome.epochs,
        "train_size": len(data.y_train_val),
        "seed": cell.seed,
        "backend": keras.backend.backend() if is_network else "scikit-learn",
        # Test examples do not influence any choice.
        "collapsed": outcome.collapsed("val") or outcome.collapsed("test"),
        "tried_again": tried_again,
        "cell": cell.key,
        "test_size": len(data.y_test),
        "cost_scale": cell.cost_scale,
        "drop_rate": cell.source.drop_rate if cell.source.imbalanced else None,
        "grayscale": cell.source.grayscale,
    }
