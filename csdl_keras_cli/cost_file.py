"""Costs of a user: a matrix in a file, with or without names, or columns of the data."""

import dataclasses
import pathlib
from collections.abc import Sequence

import numpy as np

from csdl_keras._utils.checks import did_you_mean
from csdl_keras_cli.own_columns import LARGEST_NUMBER, number_of
from csdl_keras_cli.text_table import read_cells


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

    A .csv file may begin with a line of names of decisions, and its lines with names of labels,
    in any order; rows and columns are then brought into that of `labels`. Decisions that are no
    label, such as to abstain, come last. Without names, the order is that of `labels`; with names
    of one kind alone, these have to be in that order, too.
    """
    if path.suffix.lower() == ".npy":
        try:
            matrix = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise ValueError(f"Expected {path} to hold a cost matrix; {error}") from error
        return _checked(path, matrix, labels, ())
    rows, columns, body = _parted(read_cells(path), labels)
    if not body:
        raise ValueError(
            f"Expected {path} to hold costs; received names alone, {_listed(columns or ())}."
        )
    for row, column in np.ndindex(len(body), len(body[0])):
        if number_of(body[row][column]) is None:
            places = [
                str(index + 1) if names is None else repr(names[index])
                for index, names in ((row, rows), (column, columns))
            ]
            raise ValueError(
                f"Expected {path} to hold costs, numbers; received {body[row][column]!r} in row "
                f"{places[0]}, column {places[1]}."
            )
    matrix = np.array(body, dtype=object).astype("float64")
    extra = [name for name in columns or () if name not in labels]
    if rows is not None:
        matrix = matrix[_order(path, "row", rows, labels)]
    if columns is not None:
        matrix = matrix[:, _order(path, "column", columns, [*labels, *extra])]
    if (rows is None) != (columns is None):
        named, other = ("columns", "rows") if rows is None else ("rows", "columns")
        names = rows or columns or []
        if [name for name in names if name in labels] != list(labels):
            raise ValueError(
                f"Expected {path} to name its {other} too, since its {named} are matched by their "
                f"names and not in the sorted order of labels, {_listed(labels)}, in which {other} "
                f"without names are taken; received the {named} {_listed(names)}."
            )
    return _checked(path, matrix, labels, extra)


def _parted(
    cells: list[list[str]], labels: Sequence[str]
) -> tuple[list[str] | None, list[str] | None, list[list[str]]]:
    """Returns the names of rows and of columns, `None` for those without, and the costs."""
    head = cells[0]
    # Names may be numbers as well. Cells of costs may be anything by mistake.
    named_columns = len(cells) == len(labels) + 1 or any(
        cell in labels and number_of(cell) is None for cell in head[1:]
    )
    body = cells[1:] if named_columns else cells
    first = [row[0] for row in body]
    named = any(number_of(name) is None for name in first if name)
    named_rows = (named_columns and head[0] == "") or (
        len(head) > len(labels) and (named or sorted(first) == sorted(labels))
    )
    if not named_rows:
        return None, head if named_columns else None, body
    return first, head[1:] if named_columns else None, [row[1:] for row in body]


def _order(path: pathlib.Path, what: str, names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Returns the places of the wanted names; all names have to be wanted."""
    wrong = {
        "unknown": [name for name in names if name not in wanted],
        "repeated": [name for name in dict.fromkeys(names) if [*names].count(name) > 1],
        "without": [name for name in wanted if name not in names],
    }
    if told := "; ".join(f"{title} {_listed(them)}" for title, them in wrong.items() if them):
        hint = did_you_mean(wrong["unknown"][0], wanted) if wrong["unknown"] else ""
        raise ValueError(
            f"Expected {path} to have a {what} for each label of the data, {_listed(wanted)}; "
            f"received {told}.{hint} Rows are true labels and columns decisions."
        )
    return [names.index(name) for name in wanted]


def _checked(
    path: pathlib.Path, matrix: np.ndarray, labels: Sequence[str], extra: Sequence[str]
) -> CostTable:
    """Returns the table, if its size fits, and right decisions are the cheapest of finite costs."""
    size = len(labels), len(labels) + len(extra)
    if matrix.shape != size or matrix.dtype.kind not in "biuf":
        raise ValueError(
            f"Expected {path} to hold {size[0]} x {size[1]} costs, a row and a column for each "
            f"label of the data, {_listed(labels)}; received the shape "
            f"{' x '.join(map(str, matrix.shape))} of {matrix.dtype}."
        )
    matrix = matrix.astype("float64")
    if not (np.abs(matrix) <= LARGEST_NUMBER).all():
        raise ValueError(
            f"Expected finite costs of a size up to {LARGEST_NUMBER:g}; received "
            f"{matrix[~(np.abs(matrix) <= LARGEST_NUMBER)][0]}. The file is {path}."
        )
    table = CostTable(matrix, (*labels, *extra))
    if (dear := np.diagonal(table.matrix) > 0).any():
        row = int(np.argmax(dear))
        raise ValueError(
            f"Expected {path} to hold costs C[true, decision] by which the right decision is the "
            f"cheapest; received for the true label {labels[row]!r} the costs "
            f"{matrix[row].tolist()}."
        )
    return table


def costs_of_columns(
    columns: np.ndarray, names: Sequence[str], labels: Sequence[str], numbers: np.ndarray
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Returns what each decision costs each example, and the names of decisions, labels first.

    Columns `(N, D)` that are named like the labels are matched by name; the others follow as
    decisions that are no label. Otherwise the first columns are those of the labels, in their
    order. Amounts may be gains, negative. In the mean over the examples of a label, whose `numbers`
    are given, no other label may be cheaper to decide.

    >>> costs_of_columns(np.array([[0, 5], [9, 0]]), ["yes", "no"], ["no", "yes"], np.array([1, 0]))
    (array([[5, 0],
           [0, 9]]), ('no', 'yes'))
    """
    size = len(labels)
    if len(names) < size:
        raise ValueError(
            f"Expected --cost-columns with a column for each label, {', '.join(labels)}; "
            f"received {len(names)}: {', '.join(names)}."
        )
    if {*labels} <= {*names}:
        ordered = [*labels, *(name for name in names if name not in labels)]
        columns, names = columns[:, [list(names).index(name) for name in ordered]], ordered
    if (columns < 0).any():
        columns = columns - columns.min(axis=1, keepdims=True)
    means = np.array([columns[numbers == row, :size].mean(axis=0) for row in range(size)])
    wrong = np.diagonal(means) > means.min(axis=1)
    if wrong.any():
        row = int(np.argmax(wrong))
        told = ", ".join(f"{name} {mean:g}" for name, mean in zip(names, means[row], strict=False))
        raise ValueError(
            f"Expected --cost-columns in the order of the labels, {', '.join(labels)}, or named "
            "like them, by which the right decision is the cheapest in the mean; received for the "
            f"label {labels[row]!r}, whose column is {names[row]!r}, the mean costs {told}."
        )
    return columns, (*labels, *names[size:])


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"{', '.join(map(repr, names[:8]))}{more}"
