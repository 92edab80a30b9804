"""CSV files: read as rows of text or as dataclasses, and written as a whole."""

import csv
import dataclasses
import io
import math
import pathlib
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from csdl_keras._utils.files import replace_file

Row = dict[str, Any]
Record = TypeVar("Record")


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
        except (csv.Error, UnicodeDecodeError) as error:
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


def read_csv(path: pathlib.Path, kind: type[Record]) -> list[Record]:
    """Reads a CSV file by the names of its columns; other columns are ignored.

    Args:
        path: the file, with a header.
        kind: a dataclass, whose fields are str, bool, int or float. Columns of fields with
            a default may be missing.

    Returns:
        A list of `kind`.

    Raises:
        ValueError: if the file or a column is missing, or a value does not fit;
            the message names file, row and column.
    """
    if not path.is_file():
        raise ValueError(f"Expected the file {path}; received a folder without it.")
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]
    rows = []
    needed = [field.name for field in fields if field.default is dataclasses.MISSING]
    for number, record in enumerate(read_rows(path, needed), start=1):
        place = f"row {number} of {path}"
        values = {
            field.name: _value(record[field.name], field.type, f"`{field.name}` in {place}")
            for field in fields
            if field.name in record
        }
        try:
            rows.append(kind(**values))
        except ValueError as error:
            raise ValueError(f"{str(error).rstrip('.')}, in {place}.") from None
    return rows


def _value(text: str, kind: Any, where: str) -> Any:
    """Parses a cell as str, bool, int or float; an empty float is NaN."""
    try:
        if kind is bool:
            return {"True": True, "False": False}[text]
        return math.nan if kind is float and not text else kind(text)
    except (ValueError, KeyError):
        raise ValueError(f"Expected {where} to be {kind.__name__}; received {text!r}.") from None
