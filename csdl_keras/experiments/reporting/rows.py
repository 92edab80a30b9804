"""Reads the files of a results folder: rows of its CSV files, and records of its runs."""

import csv
import dataclasses
import math
import pathlib
from collections.abc import Iterator
from typing import Any, TypeVar

from csdl_keras._utils.files import read_json

Row = TypeVar("Row")


@dataclasses.dataclass(frozen=True)
class ResultRow:
    """A row of `results.csv`, reduced to the columns that the report needs.

    Args:
        dataset: name of the data set.
        imbalanced: whether it is the imbalanced variant.
        algorithm: name of the algorithm.
        cost_seed: seed of the cost matrix.
        average_cost: average cost of a test example; infinite if training diverged.
        validation_cost: average cost of a validation example, NaN if unknown.
        train_size: number of examples for training and validation.
    """

    dataset: str
    imbalanced: bool
    algorithm: str
    cost_seed: int
    average_cost: float
    validation_cost: float
    train_size: int

    def __post_init__(self) -> None:
        if not self.average_cost >= 0:  # This form rejects NaN as well.
            raise ValueError(
                f"Expected `average_cost` to be a number of at least 0; received "
                f"{self.average_cost}."
            )


@dataclasses.dataclass(frozen=True)
class BetaRow:
    """A row of `beta_curve.csv`: the cost after pre-training with one `beta`.

    Args:
        dataset: name of the data set.
        imbalanced: whether it is the imbalanced variant.
        algorithm: name of the algorithm.
        cost_seed: seed of the cost matrix.
        beta: share of the cost-aware loss in pre-training, in [0, 1].
        test_cost: average cost of a test example; infinite if training diverged.
        standard_error: standard error of `test_cost` over test examples; ignored
            if training diverged.
        validation_cost: average cost of a validation example; ignored if training
            diverged.
    """

    dataset: str
    imbalanced: bool
    algorithm: str
    cost_seed: int
    beta: float
    test_cost: float
    standard_error: float
    validation_cost: float

    def __post_init__(self) -> None:
        if not 0 <= self.beta <= 1:
            raise ValueError(f"Expected `beta` in [0, 1]; received {self.beta}.")
        if self.test_cost == math.inf:
            return
        for name in ("test_cost", "standard_error", "validation_cost"):
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise ValueError(
                    f"Expected `{name}` to be a finite number of at least 0; received {value}."
                )


def read_csv(path: pathlib.Path, kind: type[Row]) -> list[Row]:
    """Reads a CSV file by the names of its columns; other columns are ignored.

    Args:
        path: the file, with a header.
        kind: a dataclass, whose fields are str, bool, int or float.

    Returns:
        A list of `kind`.

    Raises:
        ValueError: if the file or a column is missing, or a value does not fit;
            the message names file, line and column.
    """
    if not path.is_file():
        raise ValueError(f"Expected the file {path}; received a folder without it.")
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]
    rows = []
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        header = reader.fieldnames or []
        missing = [field.name for field in fields if field.name not in header]
        if missing:
            raise ValueError(
                f"Expected {path} to have the columns {', '.join(missing)}; "
                f"received {', '.join(header) or 'no header'}."
            )
        for record in _records(reader, path):
            place = f"line {reader.line_num} of {path}"
            values = {
                field.name: _value(record[field.name], field.type, f"`{field.name}` in {place}")
                for field in fields
            }
            try:
                rows.append(kind(**values))
            except ValueError as error:
                raise ValueError(f"{str(error).rstrip('.')}, in {place}.") from None
    return rows


def _records(reader: csv.DictReader, path: pathlib.Path) -> Iterator[dict[str, str | None]]:
    try:
        yield from reader
    except csv.Error as error:
        raise ValueError(f"Expected {path} to be a CSV file; {error}.") from error


def _value(text: str | None, kind: Any, where: str) -> Any:
    """Parses a cell as str, bool, int or float; an empty float is NaN."""
    try:
        if text is None:  # The line ends before this column.
            raise ValueError
        if kind is bool:
            return {"True": True, "False": False}[text]
        if kind is float and not text:
            return math.nan
        return kind(text)
    except (ValueError, KeyError):
        received = "a line that is too short" if text is None else repr(text)
        raise ValueError(f"Expected {where} to be {kind.__name__}; received {received}.") from None


def read_run_records(folder: pathlib.Path) -> list[dict[str, Any]]:
    """Reads `run.json`: `{"runs": [...]}`, or the one record of `csdl-keras compare`.

    Args:
        folder: results folder.

    Returns:
        Records with `command`, `date`, `versions` and `machine`, as far as they
        are known; an empty list if there is no such file.

    Raises:
        ValueError: if the file holds anything else.
    """
    path = folder / "run.json"
    if not path.exists():
        return []
    content = read_json(path)
    records = content.get("runs", [content])
    if not isinstance(records, list) or not all(_is_record(each) for each in records):
        raise ValueError(f'Expected {path} to be {{"runs": [records]}}; received other JSON.')
    return records


def _is_record(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("arguments", {}), dict)
