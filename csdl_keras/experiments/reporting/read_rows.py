"""CSV files as rows of a dataclass."""

import csv
import dataclasses
import pathlib
from collections.abc import Iterator
from typing import Any, TypeVar

Row = TypeVar("Row")


def read_rows(path: pathlib.Path, kind: type[Row]) -> list[Row]:
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


def _records(reader: csv.DictReader, path: pathlib.Path) -> Iterator[dict[str, Any]]:
    try:
        yield from reader
    except csv.Error as error:
        raise ValueError(f"Expected {path} to be a CSV file; {error}.") from error


def _value(text: str | None, kind: Any, where: str) -> Any:
    """A cell as str, bool, int or float; an empty float is NaN."""
    try:
        if text is None:  # the line ends before this column
            raise ValueError
        if kind is bool:
            return {"True": True, "False": False}[text]
        if kind is float and not text:
            return float("nan")
        return kind(text)
    except (ValueError, KeyError):
        received = "a line that is too short" if text is None else repr(text)
        raise ValueError(f"Expected {where} to be {kind.__name__}; received {received}.") from None
