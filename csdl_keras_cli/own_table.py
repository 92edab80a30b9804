"""Tables of a user: .csv files as spreadsheets, R and other programs write them, and others."""

import argparse
import contextlib
import csv
import dataclasses
import io
import pathlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas

from csdl_keras._utils.checks import did_you_mean
from csdl_keras_cli.own_columns import as_written, check_inputs, finite_numbers, read_labels

#: The line by which Excel tells the separator, such as "sep=;".
_EXCEL = re.compile(r'\A"?sep=(.)"?[ \t]*(?:\n|$)', re.IGNORECASE)
#: Commas come last, since there are some in names and numbers, too.
_SEPARATORS = (";", "\t", "|", ",")
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?")
#: Numbers that may have either decimals or thousands, such as 1,234.
THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(?:[.,]\d{3})+")

#: The number of a line in its file, whether it begins with a quote, and its cells.
Line = tuple[int, bool, list[str]]


@dataclasses.dataclass(frozen=True)
class OwnFile:
    """The contents of a user's file or folder of images."""

    #: A data frame of pandas, or images `(N, height, width, channels)` in [0, 1].
    inputs: Any
    #: The labels in the order of their numbers, and the number of each example's label.
    labels: tuple[Any, ...]
    numbers: np.ndarray
    #: Python that reads some of the inputs as `x`.
    code: str
    #: `(N, D)`, the columns of costs, or `None`.
    costs: np.ndarray | None = None
    #: What was left out, columns without a name or files, and what else stands out.
    left_out: tuple[str, ...] = ()
    told: tuple[str, ...] = ()


def read_text(path: pathlib.Path) -> str:
    """Returns the text of a file in UTF-8, with or without a byte order mark."""
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"Expected {path} to be text in UTF-8; {error}.") from error
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
            rows = _reader(io.StringIO(text), options)
            cells = (cell.strip() for row in rows for cell in row if "," in cell)
            if any(_DECIMAL_COMMA.fullmatch(it) and not THOUSANDS.fullmatch(it) for it in cells):
                options["decimal"] = ","
    return options


def lines_of(path: pathlib.Path, text: str, options: dict[str, Any]) -> Iterator[Line]:
    """Yields the lines of a table that are not blank; refuses quotes that do not close."""
    skipped, first = options.get("skiprows", 0), 0
    lines = io.StringIO(text).readlines()[skipped:]
    reader = _reader(lines, options)
    try:
        for cells in reader:
            if len(cells) > 1 or "".join(cells).strip():
                yield skipped + first + 1, lines[first].lstrip(" ").startswith('"'), cells
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
    place, _, head = next(lines)
    width, num_rows, wrong = len(head), 0, []
    for line in lines:
        num_rows += 1
        if len(line[2]) != width:
            wrong.append(line)
    if not wrong:
        return head, None
    names = [cells[0].strip() for _, _, cells in wrong if len(cells) == width + 1]
    if len(names) == num_rows:
        numbered = names == [str(row) for row in range(1, num_rows + 1)]
        quoted = all(is_quoted for _, is_quoted, _ in wrong) and len({*names}) == num_rows
        # Lines that end with a separator look alike, but for their last cells.
        if (numbered or quoted) and any(cells[-1].strip() for _, _, cells in wrong):
            return head, names[0]
    other = len(wrong[0][2])
    raise ValueError(
        f"Expected {path} to have as many cells in each line; received {width} in line {place}, "
        f"{other} in line {wrong[0][0]}. Cells with the separator inside, such as a decimal "
        "comma, need quotes, and a separator at the end of a line begins one more cell."
    )


def read_table(arguments: argparse.Namespace) -> OwnFile:
    """Reads the .csv, .parquet or .npz file of `arguments`, which get the names of columns."""
    path, label = arguments.data, arguments.label
    suffix, options = path.suffix.lower(), dict[str, Any]()
    told: tuple[str, ...] = ()
    content: Any
    if suffix == ".csv":
        text = read_text(path)
        options = {"low_memory": False, **csv_options(text)}
        head, row_name = read_head(path, lines_of(path, text, options))
        content = [name or f"Unnamed: {place}" for place, name in enumerate(head)]
        if row_name is not None:
            told = (f"Lines begin with names of rows, such as {row_name!r}, which are no inputs",)
    else:
        content = _content(path, suffix, options)
    known = [str(name) for name in content]
    _name_columns(arguments, known)
    if suffix == ".csv":
        options |= {"na_values": arguments.missing} if arguments.missing else {}
        options["dtype"] = dict.fromkeys(arguments.categories, "str")
        content = _content(path, suffix, {**options, "dtype": {**options["dtype"], label: "str"}})
    unnamed = tuple(name for name in known if name.startswith("Unnamed: "))
    taken = {label, *arguments.drop, *arguments.cost_columns, *unnamed}
    names = [name for name in content if str(name) not in taken]
    labels = content[label]
    if not names or np.ndim(labels) != 1 or not len(labels):
        raise ValueError(
            f"Expected labels (N,) in {label!r} of {path}, N at least 1, and other columns or "
            f"arrays as inputs; received labels of shape {np.shape(labels)} and the inputs {names}."
        )
    costs = [finite_numbers(name, content[name]) for name in arguments.cost_columns]
    if suffix == ".npz":
        inputs, code = _inputs_of(path, {name: content[name] for name in names}, len(labels))
    else:
        written = "".join(f", {name}={value!r}" for name, value in options.items() if value != {})
        code = f"import pandas\nx = pandas.read_{suffix[1:]}({str(path)!r}{written})[:10]"
        inputs = content[names]
    if suffix == ".csv":
        labels = as_written(labels)
    elif arguments.categories:
        inputs = inputs.astype(dict.fromkeys(arguments.categories, "category"))
    ordered, numbers = read_labels(label, labels)
    if isinstance(inputs, pandas.DataFrame):
        check_inputs(inputs, arguments.categories)
    stacked = np.column_stack(costs) if costs else None
    return OwnFile(inputs, ordered, numbers, code, stacked, unnamed, told)


def _content(path: pathlib.Path, suffix: str, options: dict[str, Any]) -> Any:
    """Returns a data frame, or the arrays of an .npz file by name."""
    try:
        if suffix != ".npz":
            return getattr(pandas, f"read_{suffix[1:]}")(path, **options)
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except ImportError:
        raise
    except Exception as error:  # Damaged files make libraries raise nearly anything.
        raise ValueError(
            f"Expected {path} to hold columns or arrays of numbers and strings; "
            f"{type(error).__name__}: {str(error).strip()}"
        ) from error


def _name_columns(arguments: argparse.Namespace, known: list[str]) -> None:
    """Replaces the values of options by the names of columns; several may be between commas."""
    chosen = [arguments.label]
    for option in ("label", "drop", "cost_columns", "categories"):
        names = [arguments.label] if option == "label" else list[str]()
        for value in () if names else getattr(arguments, option):
            parts = [value] if value in known else next(csv.reader([value], skipinitialspace=True))
            names += [part if part in known else part.strip() for part in parts if part]
        for name in names:
            if name not in known:
                raise ValueError(
                    f"Expected --{option.replace('_', '-')} to name a column of {arguments.data}, "
                    f"which has {', '.join(map(repr, known[:12]))}{' ...' * (len(known) > 12)}; "
                    f"received {name!r}.{did_you_mean(name, known)}"
                )
        if option != "label":
            setattr(arguments, option, list(dict.fromkeys(names)))
            chosen += getattr(arguments, option)
    for names in (known, chosen):
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(
                f"Expected columns of distinct names in {arguments.data}, and options that name "
                f"different ones; received {twice[0]!r} twice."
            )


def _inputs_of(path: pathlib.Path, arrays: dict[str, np.ndarray], num_rows: int) -> tuple[Any, str]:
    """Returns the inputs that some arrays of a file are, and Python that reads the first ones."""
    shapes = {name: array.shape for name, array in arrays.items()}
    ranks = {len(shape) for shape in shapes.values()}
    right = ranks == {1} or (len(arrays) == 1 and ranks <= {2, 3, 4})
    if not right or {shape[0] for shape in shapes.values()} != {num_rows}:
        raise ValueError(
            f"Expected the inputs in {path} as one array, (N, columns) or images (N, height, "
            "width) or (N, height, width, channels), or as one array (N,) for each column, with a "
            f"row for each of the {num_rows} labels; received the shapes {shapes}. Leave arrays "
            "out by --drop."
        )
    file = f"numpy.load({str(path)!r})"
    if ranks == {1}:
        code = f"file = {file}\nx = {{name: file[name][:10] for name in {list(arrays)}}}"
        return pandas.DataFrame(arrays), f"import numpy\n{code}"
    ((name, array),) = arrays.items()
    code = f"import numpy\nx = {file}[{name!r}][:10]"
    if array.ndim == 2:
        return pandas.DataFrame(array), code
    # Integers of one or two bytes may be dark images.
    whites = (255, 65535) if array.dtype.kind in "ui" and array.itemsize <= 2 else (1, 255, 65535)
    low, high = array.min(), array.max()
    white = next((it for it in whites if low >= 0 and high <= it), None)
    if white is None:
        raise ValueError(
            f"Expected images of pixels from 0 to 1, 255 or 65535 in {name!r} of {path}; received "
            f"values from {low} to {high}."
        )
    axis = "" if array.ndim == 4 else "[..., None]"
    scaled = (array if array.ndim == 4 else array[..., None]).astype("float32") / white
    return scaled, f"{code}{axis}.astype('float32') / {white}"
