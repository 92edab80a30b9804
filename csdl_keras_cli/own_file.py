"""A user's file, a table or arrays, with the columns of labels and costs apart."""

import csv
import dataclasses
import pathlib
from collections.abc import Container, Sequence
from typing import Any

import numpy as np
import pandas

from csdl_keras._utils.checks import did_you_mean
from csdl_keras_cli.own_columns import as_written, check_inputs, finite_numbers, read_labels
from csdl_keras_cli.text_table import csv_options, lines_of, read_head, read_text


@dataclasses.dataclass(frozen=True)
class OwnFile:
    """The contents of a user's file or folder of images."""

    #: A data frame of pandas, or images `(N, height, width, channels)` in [0, 1].
    inputs: Any
    #: The labels in the order of their numbers.
    labels: tuple[Any, ...]
    #: The number of each example's label.
    numbers: np.ndarray
    #: Python that reads some of the inputs as `x`.
    code: str
    #: `(N, D)`, the columns of costs, or `None`.
    costs: np.ndarray | None = None
    #: Columns without a name, or files in a folder of images, which are no inputs.
    left_out: tuple[str, ...] = ()
    #: Names of columns by the options that name them.
    chosen: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    #: What stands out in the file.
    told: tuple[str, ...] = ()


def read_file(
    path: pathlib.Path,
    label: str,
    drop: Sequence[str] = (),
    cost_columns: Sequence[str] = (),
    categories: Sequence[str] = (),
    missing: Sequence[str] = (),
) -> OwnFile:
    """Reads a .csv, .parquet or .npz file, whose arrays are columns or one array of inputs.

    Arguments are the options of these names; columns are a name, or several with commas between.
    """
    suffix, code = path.suffix.lower(), ""
    columns: Any
    told: tuple[str, ...] = ()
    if suffix == ".csv":
        text = read_text(path)
        options = {"low_memory": False, **csv_options(text)}
        head, row_name = read_head(path, lines_of(path, text, options))
        columns = [name or f"Unnamed: {place}" for place, name in enumerate(head)]
        if row_name is not None:
            told = (f"Lines begin with names of rows, such as {row_name!r}, which are no inputs",)
    elif suffix == ".npz":
        columns = _arrays(path)
    else:
        columns, code = _frame(path, "read_parquet"), _reading(path, "read_parquet")
    known = [str(name) for name in columns]
    chosen = {
        "drop": _chosen(drop, known),
        "cost_columns": _chosen(cost_columns, known),
        "categories": _chosen(categories, known),
    }
    _check_names(path, known, {"label": [label], **chosen})
    if suffix == ".csv":
        texts = dict.fromkeys(chosen["categories"], "str")
        options |= {"na_values": [*missing]} if missing else {}
        columns = _frame(path, "read_csv", **options, dtype={**texts, label: "str"})
        code = _reading(path, "read_csv", **options, **({"dtype": texts} if texts else {}))
    named = dict(zip(known, columns, strict=True))
    taken = [label, *chosen["drop"], *chosen["cost_columns"]]
    unnamed = tuple(name for name in known if name.startswith("Unnamed: "))
    names = [named[name] for name in known if name not in (*taken, *unnamed)]
    if not names:
        raise ValueError(f"Expected inputs besides {taken} in {path}; received none.")
    labels = columns[named[label]]
    if np.ndim(labels) != 1:
        raise ValueError(
            f"Expected --label {label} to name labels (N,) in {path}; received an array of shape "
            f"{np.shape(labels)}."
        )
    if not len(labels):
        raise ValueError(f"Expected rows in {path}; received none.")
    costs = [finite_numbers(name, columns[named[name]]) for name in chosen["cost_columns"]]
    if suffix == ".npz":
        inputs, code = _inputs_of(path, {name: columns[name] for name in names}, np.shape(labels))
    else:
        inputs = columns[names]
    if suffix == ".csv":
        labels = as_written(label, labels)
    elif chosen["categories"]:
        inputs = inputs.astype({named[name]: "category" for name in chosen["categories"]})
    ordered, numbers = read_labels(label, labels)
    if isinstance(inputs, pandas.DataFrame):
        check_inputs(inputs, chosen["categories"])
    stacked = np.column_stack(costs) if costs else None
    return OwnFile(inputs, ordered, numbers, code, stacked, unnamed, chosen, told)


def _chosen(values: Sequence[str], known: Container[str]) -> list[str]:
    """Returns the columns that the values of an option name."""
    names: list[str] = []
    for value in values:
        parts = [value] if value in known else next(csv.reader([value], skipinitialspace=True))
        names += [part if part in known else part.strip() for part in parts if part]
    return list(dict.fromkeys(names))


def _check_names(path: pathlib.Path, known: list[str], chosen: dict[str, list[str]]) -> None:
    if twice := _repeated(known):
        raise ValueError(f"Expected columns of distinct names in {path}; received {twice!r} twice.")
    for option, names in chosen.items():
        for name in names:
            if name not in known:
                listed = ", ".join(map(repr, known[:12])) + (" ..." if len(known) > 12 else "")
                raise ValueError(
                    f"Expected --{option.replace('_', '-')} to name a column of {path}, which has "
                    f"{listed}; received {name!r}.{did_you_mean(name, known)}"
                )
    if twice := _repeated([name for names in chosen.values() for name in names]):
        raise ValueError(
            f"Expected --label, --drop, --cost-columns and --categories to name different columns; "
            f"received {twice!r} twice."
        )


def _repeated(names: list[str]) -> str | None:
    return next((name for name in names if names.count(name) > 1), None)


def _frame(path: pathlib.Path, reader: str, **options: Any) -> Any:
    """Returns the data frame in a file."""
    try:
        return getattr(pandas, reader)(path, **options)
    except ImportError:
        raise
    # Damaged files make pandas and pyarrow raise nearly anything.
    except Exception as error:
        raise ValueError(
            f"Expected {path} to hold a table that pandas.{reader} reads; "
            f"{type(error).__name__}: {str(error).strip()}"
        ) from error


def _reading(path: pathlib.Path, reader: str, **options: Any) -> str:
    """Returns Python that reads the first rows of a data frame."""
    written = "".join(f", {name}={value!r}" for name, value in options.items())
    return f"import pandas\nx = pandas.{reader}({str(path)!r}{written})[:10]"


def _arrays(path: pathlib.Path) -> dict[str, np.ndarray]:
    """Returns the arrays of an .npz file by name."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    # Damaged files make NumPy and zipfile raise nearly anything.
    except Exception as error:
        raise ValueError(
            f"Expected {path} to be an .npz file with arrays of numbers and strings, no Python "
            f"objects; {type(error).__name__}: {error}"
        ) from error


def _inputs_of(
    path: pathlib.Path, arrays: dict[str, np.ndarray], rows: tuple[int, ...]
) -> tuple[Any, str]:
    """Returns the inputs that some arrays of a file are, and Python that reads the first ones."""
    shapes = {name: array.shape for name, array in arrays.items()}
    if len(rows) != 1 or any(shape[:1] != rows for shape in shapes.values()):
        raise ValueError(
            f"Expected arrays with a row for each of the labels, whose shape is {rows}, in {path}; "
            f"received the shapes {shapes}. Leave arrays out by --drop."
        )
    file = f"numpy.load({str(path)!r})"
    if all(len(shape) == 1 for shape in shapes.values()):
        code = f"file = {file}\nx = {{name: file[name][:10] for name in {list(arrays)}}}"
        return pandas.DataFrame(arrays), f"import numpy\n{code}"
    name, array = next(iter(arrays.items()))
    code = f"import numpy\nx = {file}[{name!r}][:10]"
    if len(arrays) > 1 or array.ndim not in (2, 3, 4):
        raise ValueError(
            f"Expected the inputs in {path} as one array, (N, columns) or images (N, height, "
            "width) or (N, height, width, channels), or as one array (N,) for each column; "
            f"received the shapes {shapes}. Leave arrays out by --drop."
        )
    if array.ndim == 2:
        return pandas.DataFrame(array), code
    largest, axis = _largest(path, name, array), "" if array.ndim == 4 else "[..., None]"
    scaled = (array if array.ndim == 4 else array[..., None]).astype("float32") / largest
    return scaled, f"{code}{axis}.astype('float32') / {largest}"


def _largest(path: pathlib.Path, name: str, images: np.ndarray) -> int:
    """Returns the value of a white pixel."""
    if images.dtype.kind in "ui" and images.dtype.itemsize <= 2:
        return 255 if images.max() <= 255 else 65535
    right = images.dtype.kind in "biuf" and images.size and images.min() >= 0
    for largest in (1, 255, 65535):
        if right and images.max() <= largest:
            return largest
    told = f"values from {images.min()} to {images.max()}" if images.size else "none"
    wrong = np.argwhere(images != images)
    if len(wrong):
        told = f"nan at {tuple(wrong[0].tolist())}"
    raise ValueError(
        f"Expected images of pixels from 0 to 1, 255 or 65535 in {name!r} of {path}; received "
        f"{told}."
    )
