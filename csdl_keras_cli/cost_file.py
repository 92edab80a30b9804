"""Costs of a user: a matrix in a file, with or without names, or columns of the data."""

import dataclasses
import pathlib
from collections.abc import Sequence

import numpy as np
import pandas

from csdl_keras._utils.arrays import check_rows
from csdl_keras._utils.checks import did_you_mean
from csdl_keras.costs.checks import amounts
from csdl_keras.costs.named_matrix import by_class
from csdl_keras_cli.own_columns import number_of
from csdl_keras_cli.own_table import THOUSANDS, read_rows


@dataclasses.dataclass(frozen=True)
class CostTable:
    """Amounts `(K, D)`, `C[true, decision]`, as in the file, and names, those of labels first."""

    amounts: np.ndarray
    decisions: tuple[str, ...]

    @property
    def matrix(self) -> np.ndarray:
        """The costs beyond those of right decisions, as training takes them."""
        return self.amounts - self.amounts.min(axis=1, keepdims=True)


def read_cost_table(path: pathlib.Path, labels: Sequence[str]) -> CostTable:
    """Reads the cost matrix of labels, `C[true, decision]`, from a .npy or .csv file.

    A .csv file may begin with a line of names of decisions, and its lines with names of labels, in
    any order. Decisions that are no label, such as to abstain, come last. Without names, the order
    is that of `labels`; with names of one kind alone, these have to be in that order, too.
    """
    decisions = list(labels)
    if path.suffix.lower() == ".npy":
        try:
            values = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise ValueError(f"Expected {path} to hold a cost matrix; {error}") from error
    else:
        rows, columns, cells = _read_cells(path, labels)
        decisions += [name for name in columns or () if name not in labels]
        frame = pandas.DataFrame(cells, rows, columns)
        try:
            values = by_class(str(path), frame, "(K, D)", classes=labels)
        except ValueError as error:
            wrong = [name for name in [*(rows or ()), *(columns or ())] if name not in labels]
            raise ValueError(
                f"Expected {path} to name rows, the true labels, and columns, decisions, after the "
                f"labels of the data, {_listed(labels)}, each of them once, or to have neither "
                f"names, in that order; received the rows {_listed(rows)} and the columns "
                f"{_listed(columns)}.{did_you_mean(wrong[0], labels) if wrong else ''}"
            ) from error
    shape = f"({len(labels)}, {len(decisions)}), a row for each of the labels {_listed(labels)}"
    table = CostTable(amounts(str(path), values, 2, shape, len(decisions)), tuple(decisions))
    check_rows(str(path), table.amounts, len(labels))
    if (dear := np.diagonal(table.matrix) > 0).any():
        row = int(np.argmax(dear))
        raise ValueError(
            f"Expected {path} to hold costs C[true, decision] by which the right decision is the "
            f"cheapest; received for the true label {labels[row]!r} the costs "
            f"{table.amounts[row].tolist()}."
        )
    return table


def _read_cells(
    path: pathlib.Path, labels: Sequence[str]
) -> tuple[list[str] | None, list[str] | None, list[list[float | None]]]:
    """Returns the names of rows and of columns in a .csv file, `None` without, and the costs."""
    options, rows_of_text, row_name = read_rows(path)
    cells = [[cell.strip() for cell in row] for row in rows_of_text if any(map(str.strip, row))]
    if row_name is not None:
        cells[0].insert(0, "")

    def amount(cell: str) -> float | None:
        if options.get("decimal") == ",":
            if "." in cell and THOUSANDS.fullmatch(cell):
                return None
            cell = cell.replace(",", ".")
        return number_of(cell)

    columns, body = None, cells
    # Names may be numbers as well. Cells of costs may be anything by mistake.
    if len(cells) == len(labels) + 1 or any(
        it in labels and amount(it) is None for it in cells[0][1:]
    ):
        columns, body = cells[0], cells[1:]
    rows, first = None, [row[0] for row in body]
    texts = any(amount(name) is None for name in first if name)
    wide = len(cells[0]) > len(labels) and (texts or sorted(first) == sorted(labels))
    if wide or (columns and columns[0] == ""):
        rows, columns, body = first, columns and columns[1:], [row[1:] for row in body]
    if not body:
        raise ValueError(f"Expected {path} to hold costs; received names alone.")
    costs = [[amount(cell) for cell in row] for row in body]
    for row, column in np.ndindex(len(body), len(body[0])):
        if costs[row][column] is None:
            raise ValueError(
                f"Expected {path} to hold costs, numbers with the decimal sign "
                f"{options.get('decimal', '.')!r} and no other; received {body[row][column]!r} in "
                f"row {rows[row] if rows else row + 1}, column "
                f"{columns[column] if columns else column + 1}."
            )
    return rows, columns, costs


def costs_of_columns(
    columns: np.ndarray, names: Sequence[str], labels: Sequence[str], numbers: np.ndarray
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Returns what each decision costs each example, and the names of decisions, labels first.

    Columns `(N, D)` that are named like the labels are matched by name; otherwise the first ones
    are those of the labels, in their order. The others are decisions that are no label. Amounts
    may be gains, negative. `numbers` are those of the examples' labels.
    """
    size, listed = len(labels), ", ".join(labels)
    if len(names) < size:
        raise ValueError(
            f"Expected --cost-columns with a column for each label, {listed}; received "
            f"{len(names)}: {', '.join(names)}."
        )
    if {*labels} <= {*names}:
        ordered = [*labels, *(name for name in names if name not in labels)]
        columns, names = columns[:, [list(names).index(name) for name in ordered]], ordered
    if (columns < 0).any():
        columns = columns - columns.min(axis=1, keepdims=True)
    means = np.array([columns[numbers == row, :size].mean(axis=0) for row in range(size)])
    if (wrong := np.diagonal(means) > means.min(axis=1)).any():
        row = int(np.argmax(wrong))
        told = ", ".join(f"{name} {mean:g}" for name, mean in zip(names, means[row], strict=False))
        raise ValueError(
            f"Expected --cost-columns in the order of the labels, {listed}, or named like them, by "
            "which the right decision is the cheapest in the mean; received for the label "
            f"{labels[row]!r}, whose column is {names[row]!r}, the mean costs {told}."
        )
    return columns, (*labels, *names[size:])


def _listed(names: Sequence[str] | None) -> str:
    more = f" and {len(names) - 8} more" if names and len(names) > 8 else ""
    return f"{', '.join(map(repr, names[:8]))}{more}" if names else "without names"
