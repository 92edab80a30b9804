"""Reads the user's costs: a matrix in a file, or columns of the data."""

import pathlib
from collections.abc import Sequence

import numpy as np
import pandas

from csdl_keras_cli.did_you_mean import did_you_mean
from csdl_keras_cli.own_columns import number_of
from csdl_keras_cli.own_table import THOUSANDS, read_rows


def read_costs(path: pathlib.Path, labels: Sequence[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Returns the costs `C[true, decision]` in a .csv file, and its decisions, labels first."""
    listed = ", ".join(labels[:12]) + ", ..." * (len(labels) > 12)
    frame = _read_frame(path, len(labels))
    named = isinstance(frame.columns[0], str)
    names = [*frame.index, *frame.columns] if named else []
    wrong = [name for name in names if name not in labels]
    decisions = [*labels, *(name for name in frame.columns if name in wrong)]
    if named and not (sorted(frame.index) == sorted(labels) and {*labels} <= {*frame.columns}):
        raise ValueError(
            f"The rows and columns of {path} are named {', '.join(names)}. Name them after the "
            f"labels {listed}, each once in rows and columns, or omit names and keep that order."
            f"{did_you_mean(wrong[0], labels) if wrong else ''}"
        )
    costs = frame.loc[[*labels], decisions].to_numpy() if named else frame.to_numpy()
    if costs.shape != (len(labels), len(decisions)):
        raise ValueError(
            f"Expected costs of shape ({len(labels)}, {len(decisions)}) in {path}, a row for each "
            f"of the labels {listed}; received shape {costs.shape}."
        )
    if (dear := np.diagonal(costs) > costs.min(axis=1)).any():
        row = int(np.argmax(dear))
        raise ValueError(
            f"In {path}, the right decision is not the cheapest for the true label "
            f"{labels[row]!r}, whose costs are {costs[row].tolist()}. Write C[true, decision]: a "
            "row for each true label, a column for each decision."
        )
    return costs, tuple(decisions)


def _read_frame(path: pathlib.Path, num_labels: int) -> pandas.DataFrame:
    options, rows, row_name = read_rows(path)
    cells = [[cell.strip() for cell in row] for row in rows if any(map(str.strip, row))]
    if row_name is not None:
        cells[0].insert(0, "")

    def amount(cell: str) -> float | None:
        if options.get("decimal") == ",":
            if "." in cell and THOUSANDS.fullmatch(cell):
                return None
            cell = cell.replace(",", ".")
        return number_of(cell)

    frame = pandas.DataFrame(cells)
    # Names may also be numbers.
    if len(cells) == num_labels + 1 or amount(cells[0][-1]) is None:
        body = [row[1:] for row in cells[1:]]
        frame = pandas.DataFrame(body, [row[0] for row in cells[1:]], cells[0][1:])
    costs = frame.map(amount).astype("float64")
    for row, column in np.argwhere(~np.isfinite(costs)):
        raise ValueError(
            f"{path} has {frame.iat[row, column]!r} in row {row + 1}, column {column + 1} of the "
            f"costs. Write numbers with the decimal separator {options.get('decimal', '.')!r}."
        )
    return costs


def labels_first(option: str, names: Sequence[str], labels: Sequence[str]) -> list[str]:
    """Returns the names of cost columns, those of labels first if they are named after labels."""
    if len(names) < len(labels):
        raise ValueError(
            f"{option} needs a column for each label, {', '.join(labels)}; received {len(names)}: "
            f"{', '.join(names)}."
        )
    if {*labels} <= {*names}:
        return [*labels, *(name for name in names if name not in labels)]
    return list(names)


def costs_of_columns(
    columns: np.ndarray, names: Sequence[str], labels: Sequence[str], numbers: np.ndarray
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Returns the costs `(N, D)` of all decisions, and the names of decisions, labels first."""
    size, ordered = len(labels), labels_first("--cost-columns", names, labels)
    columns = columns[:, [names.index(name) for name in ordered]]
    if (columns < 0).any():
        columns = columns - columns.min(axis=1, keepdims=True)
    means = class_means(numbers, columns[:, :size])
    if (wrong := np.diagonal(means) > means.min(axis=1)).any():
        row = int(np.argmax(wrong))
        told = ", ".join(f"{ordered[it]} {mean:g}" for it, mean in enumerate(means[row]))
        raise ValueError(
            f"With {ordered[row]!r} as the --cost-columns of label {labels[row]!r}, its mean costs "
            f"are {told}: the right decision is not the cheapest. Name the columns after the "
            f"labels {', '.join(labels)}, or give them in this order."
        )
    return columns, (*labels, *ordered[size:])


def class_means(numbers: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Returns the mean costs of the examples of each label."""
    return pandas.DataFrame(costs).groupby(numbers).mean().to_numpy()
