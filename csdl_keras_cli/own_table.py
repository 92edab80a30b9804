"""Reads a user's tables: .csv files from spreadsheets, R and other programs, .parquet, .npz."""

import argparse
import csv
import dataclasses
import io
import itertools
import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas

from csdl_keras_cli.columns import finite_numbers
from csdl_keras_cli.did_you_mean import did_you_mean
from csdl_keras_cli.own_columns import as_written, check_inputs, read_labels

#: Commas come last, since names and numbers may contain them too.
_SEPARATORS = (";", "\t", "|", ",")
_WHITE = {"uint8": 255, "uint16": 65535}
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?")
#: Excel's line that names the separator, such as "sep=;".
_EXCEL = re.compile(r'\A"?sep=(.)"?[ \t]*(?:\n|$)', re.IGNORECASE)
#: Numbers whose separators may be decimal or thousands separators, such as 1,234.
THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(?:[.,]\d{3})+")


@dataclasses.dataclass(frozen=True)
class OwnFile:
    """The contents of a user's file or folder of images."""

    #: A data frame of pandas, or images `(N, height, width, channels)` in [0, 1].
    inputs: Any
    #: The labels in the order of their numbers, and the number of each example's label.
    labels: tuple[Any, ...]
    numbers: np.ndarray
    #: Python code that reads some of the inputs as `x`.
    code: str
    #: `(N, D)`, the columns of costs, or `None`.
    costs: np.ndarray | None = None
    #: All columns of a table, or `None`.
    frame: Any = None
    #: The formats of columns whose texts are dates.
    dates: Mapping[str, str] = dataclasses.field(default_factory=dict)
    #: Unnamed columns or files that were left out, and other remarks.
    left_out: tuple[str, ...] = ()
    told: tuple[str, ...] = ()


def read_rows(path: pathlib.Path) -> tuple[dict[str, Any], Sequence[list[str]], str | None]:
    """Returns arguments of `pandas.read_csv`, all rows, and the name of the first row or `None`."""
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not encoded in UTF-8: {error}.") from error
    told, text = _EXCEL.match(text), _EXCEL.sub("", text)
    if not re.search(r"\w", text):
        raise ValueError(f"{path} is empty.")
    sample = re.sub(r'"[^"]*"', '""', text[:1_000_000]).lstrip().splitlines()[:100]
    separator = max(_SEPARATORS, key=lambda one: sorted(line.count(one) for line in sample))
    separator = told[1] if told else separator
    spaced = f"{separator} " in sample[0]
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=spaced)
    try:
        found = [
            (reader.line_num + bool(told), cells)
            for cells in reader
            if len(cells) > 1 or "".join(cells).strip()
        ]
    except csv.Error as error:
        line = reader.line_num + bool(told)
        raise ValueError(f"{path} cannot be read as a table: line {line}: {error}.") from error
    numbers, rows = zip(*found, strict=True)
    options: dict[str, Any] = {"skiprows": 1} if told else {}
    options |= {"skipinitialspace": True} if spaced else {}
    if separator != ",":
        options["sep"] = separator
        texts = (cell.strip() for row in rows for cell in row if "," in cell)
        if any(_DECIMAL_COMMA.fullmatch(it) and not THOUSANDS.fullmatch(it) for it in texts):
            options["decimal"] = ","
    width, body = len(rows[0]), rows[1:]
    place = next((place for place, row in enumerate(rows) if len(row) != width), None)
    if place is None:
        return options, rows, None
    # Pandas would shift or invent cells. Only R's row names, quoted or numbers, are accepted.
    if all(len(row) == width + 1 for row in body):
        names = [row[0].strip() for row in body]
        quoted = len(re.findall(r'\n *"', text)) >= len({*names}) == len(names)
        numbered = names == [str(place + 1) for place in range(len(names))]
        # Unlike these, lines that end with a separator have empty last cells.
        if (numbered or quoted) and any(row[-1] for row in body):
            return options, rows, names[0]
    raise ValueError(
        f"Lines of {path} differ in their number of cells: {width} in line {numbers[0]}, "
        f"{len(rows[place])} in line {numbers[place]}. Quote cells that contain the separator, "
        "such as a decimal comma; a separator at the end of a line begins one more cell."
    )


def read_table(arguments: argparse.Namespace) -> OwnFile:
    """Reads a .csv, .parquet or .npz file; column names in `arguments` become those of the file."""
    path, label = arguments.data, arguments.label
    suffix, options = path.suffix.lower(), dict[str, Any]()
    told: tuple[str, ...] = ()
    content: Any
    if suffix == ".csv":
        options, (head, *_), row_name = read_rows(path)
        options["low_memory"] = False
        content = [name or f"Unnamed: {place}" for place, name in enumerate(head)]
        if row_name is not None:
            told = (f"Lines begin with row names, such as {row_name!r}, which are not inputs",)
    else:
        content = _content(path, suffix, options)
    known = [str(name) for name in content]
    _name_columns(arguments, known)
    if suffix == ".csv":
        options |= {"na_values": arguments.missing} if arguments.missing else {}
        options["dtype"] = dict.fromkeys(arguments.categories, "str")
        content = _content(path, suffix, {**options, "dtype": {**options["dtype"], label: "str"}})
    unnamed = tuple(name for name in known if name.startswith("Unnamed: "))
    others = (arguments.drop, arguments.cost_columns, arguments.group, arguments.today)
    taken = {label, *itertools.chain(*others), *unnamed}
    names = [name for name in content if str(name) not in taken]
    labels = content[label]
    if not names or np.ndim(labels) != 1 or not len(labels):
        raise ValueError(
            f"{path} must have labels (N,) in {label!r}, N at least 1, and other columns or arrays "
            f"as inputs; received labels of shape {np.shape(labels)} and the inputs {names}."
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
    dates: dict[str, str] = {}
    if isinstance(inputs, pandas.DataFrame):
        given = dict(it.split("=", 1) for it in arguments.date_format)
        # The column that orders the rows need not be an input.
        order = [it for it in arguments.split_by if it not in inputs]
        dates = check_inputs(
            content[[*inputs, *order]] if order else inputs, arguments.categories, given
        )
    stacked = np.column_stack(costs) if costs else None
    frame = None if suffix == ".npz" else content
    return OwnFile(inputs, ordered, numbers, code, stacked, frame, dates, unnamed, told)


def _content(path: pathlib.Path, suffix: str, options: dict[str, Any]) -> Any:
    try:
        if suffix != ".npz":
            return getattr(pandas, f"read_{suffix[1:]}")(path, **options)
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except ImportError:
        raise
    except Exception as error:  # Damaged files raise many kinds of errors.
        told = f"{type(error).__name__}: {str(error).strip()}"
        raise ValueError(f"{path} cannot be read as a {suffix} file: {told}") from error


def _name_columns(arguments: argparse.Namespace, known: list[str]) -> None:
    """Replaces the values of options by lists of column names, splitting them at commas."""
    chosen = {"label": [arguments.label]}
    for option in "drop categories cost_columns known_costs split_by group today".split():
        found = []
        for value in getattr(arguments, option):
            parts = [value] if value in known else next(csv.reader([value], skipinitialspace=True))
            found += [part if part in known else part.strip() for part in parts if part]
        chosen[option] = list(dict.fromkeys(found))
        setattr(arguments, option, chosen[option])
    chosen["date_format"] = [it.split("=", 1)[0] for it in arguments.date_format]
    for option, names in chosen.items():
        for name in {*names} - {*known}:
            raise ValueError(
                f"--{option.replace('_', '-')} {name!r} is not a column of {arguments.data}, which "
                f"has {', '.join(map(repr, known[:12]))}{' ...' * (len(known) > 12)}."
                f"{did_you_mean(name, known)}"
            )
    # Known costs and dates may also be inputs, and a date may order the rows.
    options = "label drop categories cost_columns".split()
    exclusive = [name for option in options for name in chosen[option]]
    for names in (known, exclusive):
        if twice := [name for name in names if names.count(name) > 1]:
            where = f"{arguments.data} has" if names is known else "--label, --drop, etc. name"
            raise ValueError(f"{where} the column {twice[0]!r} twice.")


def _inputs_of(path: pathlib.Path, arrays: dict[str, np.ndarray], num_rows: int) -> tuple[Any, str]:
    """Returns arrays as inputs, and Python code that reads the first of them."""
    shapes = {name: array.shape for name, array in arrays.items()}
    ranks = {len(shape) for shape in shapes.values()}
    right = ranks == {1} or (len(arrays) == 1 and ranks <= {2, 3, 4})
    if not right or {shape[0] for shape in shapes.values()} != {num_rows}:
        raise ValueError(
            f"The inputs in {path} have the shapes {shapes}, with {num_rows} labels. They must be "
            "one array (N, columns), (N, height, width) or (N, height, width, channels), or an "
            "array (N,) for each column. Leave arrays out with --drop."
        )
    file = f"numpy.load({str(path)!r})"
    if ranks == {1}:
        code = f"file = {file}\nx = {{name: file[name][:10] for name in {list(arrays)}}}"
        return pandas.DataFrame(arrays), f"import numpy\n{code}"
    ((name, array),) = arrays.items()
    code = f"import numpy\nx = {file}[{name!r}][:10]"
    if array.ndim == 2:
        return pandas.DataFrame(array), code
    low, high, white = array.min(), array.max(), _WHITE.get(array.dtype.name, 1)
    if low < 0 or high > white:
        raise ValueError(
            f"Images in {name!r} of {path} must be uint8, uint16 or from 0 to 1; received "
            f"{array.dtype.name} from {low} to {high}."
        )
    axis = "" if array.ndim == 4 else "[..., None]"
    scaled = (array if array.ndim == 4 else array[..., None]).astype("float32") / white
    return scaled, f"{code}{axis}.astype('float32') / {white}"
