"""Tables of text: .csv files as spreadsheets, R and other programs write them."""

import contextlib
import csv
import io
import pathlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

#: The line by which Excel tells the separator, such as "sep=;".
_EXCEL = re.compile(r'\A"?sep=(.)"?[ \t]*(?:\r\n?|\n|$)', re.IGNORECASE)
#: Commas come last, since there are some in names and numbers, too.
_SEPARATORS = (";", "\t", "|", ",")
_DECIMAL_COMMA = re.compile(r"([-+]?\d*),(\d+(?:[eE][-+]?\d+)?)")
#: Numbers that may have either decimals or thousands, such as 1,234.
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(?:[.,]\d{3})+")


class Line(NamedTuple):
    """A line of a table; one with line breaks in quotes has the number of its first."""

    number: int
    is_quoted: bool
    cells: list[str]


def read_text(path: pathlib.Path) -> str:
    """Returns the text of a file in UTF-8, with or without a byte order mark."""
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"Expected {path} to be text in UTF-8; received the byte "
            f"0x{content[error.start]:02x} in line {line}. Save it as UTF-8."
        ) from error
    if not _EXCEL.sub("", text).strip():
        raise ValueError(f"Expected {path} to hold a table; the file is empty.")
    return text


def csv_options(text: str) -> dict[str, Any]:
    """Returns the arguments of `pandas.read_csv` that differ from its defaults for a text.

    The separator is the one that the first lines have most of, unless a line for Excel tells it.
    Other separators than commas come with decimal commas if there are numbers with one.

    >>> csv_options("a;b\\n1,5;x\\n")
    {'sep': ';', 'decimal': ','}
    """
    told = _EXCEL.match(text)
    options: dict[str, Any] = {"skiprows": 1} if told else {}
    text = _EXCEL.sub("", text)
    lines = re.sub(r'"[^"]*"', '""', text[:1_000_000]).lstrip().splitlines()[:100]
    separator = max(_SEPARATORS, key=lambda one: sorted(line.count(one) for line in lines))
    separator = told[1] if told else separator
    if f"{separator} " in lines[0]:
        options["skipinitialspace"] = True
    if separator != ",":
        options["sep"] = separator
        with contextlib.suppress(csv.Error):  # `lines_of` tells of it.
            rows = _reader(io.StringIO(text, newline=""), options)
            cells = (cell.strip() for row in rows for cell in row if "," in cell)
            if any(_DECIMAL_COMMA.fullmatch(it) and not _THOUSANDS.fullmatch(it) for it in cells):
                options["decimal"] = ","
    return options


def lines_of(path: pathlib.Path, text: str, options: dict[str, Any]) -> Iterator[Line]:
    """Yields the lines of a table that are not blank; refuses quotes that do not close."""
    skipped = options.get("skiprows", 0)
    lines = io.StringIO(text, newline="").readlines()[skipped:]
    reader = _reader(lines, options)
    first = 0
    try:
        for cells in reader:
            if len(cells) > 1 or "".join(cells).strip():
                is_quoted = lines[first].lstrip(" ").startswith('"')
                yield Line(skipped + first + 1, is_quoted, cells)
            first = reader.line_num
    except csv.Error as error:
        raise ValueError(
            f"Expected {path} to hold a table; line {skipped + first + 1}: {error}."
        ) from error


def _reader(lines: Iterable[str], options: dict[str, Any]) -> Any:
    spaced = options.get("skipinitialspace", False)
    return csv.reader(lines, delimiter=options.get("sep", ","), skipinitialspace=spaced)


def read_head(path: pathlib.Path, lines: Iterator[Line]) -> tuple[list[str], str | None]:
    """Returns the cells of the first line, and the name of the first row if rows have names.

    R writes rows with a name that has no cell in the first line: in quotes, or the row's number.
    Any other line of more or fewer cells is refused, since pandas would move or invent cells.
    """
    head, num_rows = next(lines), 0
    width, wrong = len(head.cells), []
    for line in lines:
        num_rows += 1
        if len(line.cells) != width:
            wrong.append(line)
    if not wrong:
        return head.cells, None
    if len(wrong) == num_rows and all(len(line.cells) == width + 1 for line in wrong):
        names = [line.cells[0].strip() for line in wrong]
        numbered = names == [str(row) for row in range(1, num_rows + 1)]
        quoted = all(line.is_quoted for line in wrong) and len({*names}) == num_rows
        # Lines that end with a separator look alike, but for their last cells.
        if (numbered or quoted) and any(line.cells[-1].strip() for line in wrong):
            return head.cells, names[0]
    other = len(wrong[0].cells)
    raise ValueError(
        f"Expected {path} to have as many cells in each line; received lines of "
        f"{min(width, other)}, {max(width, other)} cells: {width} in line {head.number}, "
        f"{other} in line {wrong[0].number}. Cells with the separator inside, such as a decimal "
        "comma, need quotes, and a separator at the end of a line begins one more cell."
    )


def read_cells(path: pathlib.Path) -> list[list[str]]:
    """Returns the cells of a .csv file line by line, decimal commas as points.

    Lines of empty cells are left out. A point among decimal commas that may be one of thousands is
    refused.
    """
    text = read_text(path)
    options = csv_options(text)
    lines = [line for line in lines_of(path, text, options) if any(map(str.strip, line.cells))]
    _, row_name = read_head(path, iter(lines))
    rows = [[cell.strip() for cell in line.cells] for line in lines]
    if row_name is not None:
        rows[0].insert(0, "")
    if options.get("decimal") == ",":
        for line, row in zip(lines, rows, strict=True):
            for column, cell in enumerate(row):
                if "." in cell and _THOUSANDS.fullmatch(cell):
                    raise ValueError(
                        f"Expected numbers with decimal commas in {path}; received {cell!r} in "
                        f"line {line.number}, column {column + 1}. Write thousands without a point."
                    )
                number = _DECIMAL_COMMA.fullmatch(cell)
                row[column] = ".".join(number.groups()) if number else cell
    return rows
