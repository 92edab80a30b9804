"""Examples in a user's file, a table or arrays, with the columns of labels and costs apart."""

import dataclasses
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from csdl_keras._utils.optional import optional_module
from csdl_keras.experiments.own_columns import check_numbers
from csdl_keras.experiments.text_table import csv_options, read_text
from csdl_keras_cli.suggestions import did_you_mean


@dataclasses.dataclass(frozen=True)
class OwnFile:
    """The contents of a user's file.

    Args:
        inputs: a data frame of pandas, or images `(N, height, width, channels)` in [0, 1].
        labels: the column of labels.
        costs: `(N, D)` costs of each decision, or `None`.
        cost_names: names of these columns.
        code: Python that reads some of the inputs as `x`.
        left_out: columns without a name, or files in a folder of images, which are no inputs.
    """

    inputs: Any
    labels: Any
    costs: np.ndarray | None
    cost_names: tuple[str, ...]
    code: str
    left_out: tuple[str, ...] = ()


def read_file(
    path: pathlib.Path, label: str, drop: Sequence[str] = (), cost_columns: Sequence[str] = ()
) -> OwnFile:
    """Reads a .csv, .parquet or .npz file.

    Args:
        path: the file.
        label: name of the column, or of the array of an .npz file, of labels.
        drop: names of columns that are no inputs.
        cost_columns: names of the columns of costs, which are no inputs either.

    Raises:
        ValueError: if the file cannot be read, lacks a column, or holds no inputs.
    """
    columns: Any
    if path.suffix.lower() == ".npz":
        columns, code = _arrays(path), ""
    else:
        columns, code = _frame(path, label)
    named = {str(name): name for name in columns}
    for option, wanted in (("label", [label]), ("drop", drop), ("cost-columns", cost_columns)):
        for name in wanted:
            _check_column(path, option, name, list(named))
    taken = [label, *drop, *cost_columns]
    twice = [name for name in dict.fromkeys(taken) if taken.count(name) > 1]
    if twice:
        raise ValueError(
            f"Expected --label, --drop and --cost-columns to name different columns; received "
            f"{twice[0]!r} twice."
        )
    unnamed = tuple(name for name in named if name.startswith("Unnamed: "))
    names = [named[name] for name in named if name not in (*taken, *unnamed)]
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
    costs = [np.asarray(columns[named[name]]) for name in cost_columns]
    if path.suffix.lower() == ".npz":
        inputs, code = _inputs_of(path, {name: columns[name] for name in names}, np.shape(labels))
    else:
        inputs = columns[names]
    return OwnFile(
        inputs, labels, _stacked(costs, cost_columns), tuple(cost_columns), code, unnamed
    )


def _check_column(path: pathlib.Path, option: str, name: str, known: list[str]) -> None:
    if name in known:
        return
    listed = ", ".join(map(repr, known[:12])) + (" ..." if len(known) > 12 else "")
    raise ValueError(
        f"Expected --{option} to name a column of {path}, which has {listed}; received {name!r}."
        f"{did_you_mean(name, known)}"
    )


def _stacked(costs: list[np.ndarray], names: Sequence[str]) -> np.ndarray | None:
    if not costs:
        return None
    try:
        stacked = np.column_stack([one.astype("float64") for one in costs])
    except ValueError as error:
        raise ValueError(
            f"Expected numbers in --cost-columns {','.join(names)}; {error}."
        ) from error
    for name, column in zip(names, stacked.T, strict=True):
        check_numbers(name, column)
    return stacked


def _frame(path: pathlib.Path, label: str) -> tuple[Any, str]:
    """Returns the data frame in a file, and Python that reads its first rows.

    Labels of a .csv file stay texts unless they are written as whole numbers and booleans are
    in Python: 01 is no other way to write 1, nor true one to write True.
    """
    pandas = optional_module("pandas", "compare")
    reader, options = "read_parquet", {}
    if path.suffix.lower() == ".csv":
        reader, options = "read_csv", csv_options(read_text(path))
    else:
        optional_module("pyarrow", "compare")
    try:
        if reader == "read_parquet":
            frame = pandas.read_parquet(path)
            names = [str(name) for name in frame.columns]
        else:
            frame = pandas.read_csv(path, low_memory=False, **options)
            names = pandas.read_csv(path, header=None, nrows=1, dtype=str, **options).iloc[0]
            names = names.dropna().tolist()
            if label in frame and frame[label].dtype.kind in "iub":
                texts = pandas.read_csv(path, dtype={label: str}, **options)[label]
                if (texts.str.strip() != frame[label].astype(str)).any():
                    frame[label] = texts
    # Damaged files make pandas and pyarrow raise nearly anything.
    except Exception as error:
        raise ValueError(
            f"Expected {path} to hold a table that pandas.{reader} reads; "
            f"{type(error).__name__}: {str(error).strip()}"
        ) from error
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise ValueError(
            f"Expected columns of distinct names in {path}; received {twice[0]!r} twice."
        )
    written = "".join(f", {name}={value!r}" for name, value in options.items())
    code = f"x = pandas.{reader}({str(path)!r}{written})[:10]"
    return frame, f"import pandas\n{code}"


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
    pandas, file = optional_module("pandas", "compare"), f"numpy.load({str(path)!r})"
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
    largest = _largest(path, name, array)
    scaled = (array if array.ndim == 4 else array[..., None]).astype("float32") / largest
    return scaled, f"{code}{'' if array.ndim == 4 else '[..., None]'} / {largest}"


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
