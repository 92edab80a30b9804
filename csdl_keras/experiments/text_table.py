"""Tables of text, .csv files as spreadsheets and other programs write them."""

import csv
import pathlib
import re
from typing import Any

_SEPARATORS = (",", ";", "\t", "|")
_DECIMAL_COMMA = re.compile(r'(?:^|[;"])\s*[-+]?\d+,\d+\s*(?:$|[;"])', re.MULTILINE)


def read_text(path: pathlib.Path) -> str:
    """Returns the text of a file in UTF-8, with or without a byte order mark.

    Raises:
        ValueError: if it is empty, or not in UTF-8.
    """
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"Expected {path} to be text in UTF-8; received the byte "
            f"0x{content[error.start]:02x} in line {line}. Save it as UTF-8."
        ) from error
    if not text.strip():
        raise ValueError(f"Expected {path} to hold a table; the file is empty.")
    return text


def csv_options(text: str) -> dict[str, Any]:
    """Returns the arguments of `pandas.read_csv` that differ from its defaults for a text.

    The separator is the one of comma, semicolon, tabulator and bar that the first line has most
    of. Semicolons come with decimal commas if there are numbers with one.

    Example:

    >>> csv_options("a;b\\n1,5;x\\n")
    {'sep': ';', 'decimal': ','}
    """
    head = text.lstrip().splitlines()[0]
    unquoted = re.sub(r'"[^"]*"', "", head)
    separator = max(_SEPARATORS, key=unquoted.count)
    options: dict[str, Any] = {}
    if separator != ",":
        options["sep"] = separator
    if separator == ";" and _DECIMAL_COMMA.search(text):
        options["decimal"] = ","
    if f"{separator} " in head:
        options["skipinitialspace"] = True
    return options


def read_cells(path: pathlib.Path) -> list[list[str]]:
    """Returns the cells of a .csv file line by line, without those that are empty.

    Raises:
        ValueError: if it is empty, not in UTF-8, or has lines of different lengths.
    """
    text = read_text(path)
    options = csv_options(text)
    lines = csv.reader(
        text.splitlines(),
        delimiter=options.get("sep", ","),
        skipinitialspace=options.get("skipinitialspace", False),
    )
    rows = [[cell.strip() for cell in line] for line in lines]
    rows = [row for row in rows if any(row)]
    lengths = sorted({len(row) for row in rows})
    if len(lengths) > 1:
        raise ValueError(
            f"Expected {path} to have as many cells in each line; received lines of "
            f"{', '.join(map(str, lengths))} cells."
        )
    if options.get("decimal") == ",":
        rows = [[re.sub(r"^([-+]?\d+),(\d+)$", r"\1.\2", cell) for cell in row] for row in rows]
    return rows
