"""Cost matrices in files, with or without names of labels and decisions."""

import dataclasses
import pathlib
from collections.abc import Sequence

import numpy as np

from csdl_keras.costs import regret
from csdl_keras.costs.checks import amounts
from csdl_keras.experiments.text_table import read_cells
from csdl_keras_cli.suggestions import did_you_mean


@dataclasses.dataclass(frozen=True)
class CostTable:
    """A cost matrix with the names of its rows and columns.

    Args:
        amounts: `(K, D)`, `C[true, decision]`, as they are in the file.
        labels: names of the `K` true labels.
        decisions: names of the `D` decisions, of which the first `K` are the labels.
    """

    amounts: np.ndarray
    labels: tuple[str, ...]
    decisions: tuple[str, ...]

    @property
    def matrix(self) -> np.ndarray:
        """The costs beyond those of right decisions, as training takes them."""
        return regret(self.amounts)

    @property
    def shifted(self) -> bool:
        """True if right decisions cost or gain something in the file."""
        return bool(np.diagonal(self.amounts).any())


def read_cost_table(path: pathlib.Path, labels: Sequence[str]) -> CostTable:
    """Reads the cost matrix of labels, `C[true, decision]`, from a .npy or .csv file.

    A .csv file may begin with a line of names of decisions, and its lines with names of labels,
    in any order; rows and columns are then brought into that of `labels`. Decisions that are no
    label, such as to abstain, come last. Without names, the order is that of `labels`; with names
    of one kind alone, these have to be in that order, too.

    Args:
        path: the file.
        labels: the labels of the data as text, in the order of their numbers.

    Raises:
        ValueError: if the file cannot be read, holds something else than costs of these labels,
            or costs fail their check.
    """
    if path.suffix.lower() == ".npy":
        try:
            matrix = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise ValueError(f"Expected {path} to hold a cost matrix; {error}") from error
        return _checked(path, matrix, labels, ())
    cells = read_cells(path)
    row_names, decisions, body = _parted(cells, labels)
    if not body:
        raise ValueError(
            f"Expected {path} to hold costs; received names alone, {_listed(decisions or ())}."
        )
    for row, column in np.ndindex(len(body), len(body[0])):
        if not _is_number(body[row][column]):
            raise ValueError(
                f"Expected {path} to hold costs, numbers; received {body[row][column]!r} in row "
                f"{_place(row, row_names)}, column {_place(column, decisions)}."
            )
    matrix = np.array(body, dtype=object).astype("float64")
    extra = [name for name in decisions or () if name not in labels]
    if row_names is not None:
        matrix = matrix[_order(path, "row", row_names, labels)]
    if decisions is not None:
        matrix = matrix[:, _order(path, "column", decisions, [*labels, *extra])]
    _check_one_side(path, row_names, decisions, labels)
    return _checked(path, matrix, labels, extra)


def _parted(
    cells: list[list[str]], labels: Sequence[str]
) -> tuple[list[str] | None, list[str] | None, list[list[str]]]:
    """Returns the names of rows and of columns, `None` for those without, and the costs."""
    head = cells[0]
    # Names may be numbers as well. Cells of costs may be anything by mistake.
    named_columns = len(cells) == len(labels) + 1 or any(
        cell in labels and not _is_number(cell) for cell in head[1:]
    )
    body = cells[1:] if named_columns else cells
    first = [row[0] for row in body]
    named_rows = (named_columns and head[0] == "") or (
        len(head) > len(labels)
        and (not all(map(_is_number, filter(None, first))) or sorted(first) == sorted(labels))
    )
    if not named_rows:
        return None, head if named_columns else None, body
    return first, head[1:] if named_columns else None, [row[1:] for row in body]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _place(index: int, names: Sequence[str] | None) -> str:
    return str(index + 1) if names is None else repr(names[index])


def _order(path: pathlib.Path, what: str, names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Returns the places of the wanted names; all names have to be wanted."""
    unknown = [name for name in names if name not in wanted]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]  # type: ignore[attr-defined]
    missing = [name for name in wanted if name not in names]
    if unknown or twice or missing:
        told = [
            f"{title} {', '.join(map(repr, them[:5]))}{' ...' if len(them) > 5 else ''}"
            for title, them in (("unknown", unknown), ("repeated", twice), ("without", missing))
            if them
        ]
        hint = did_you_mean(unknown[0], wanted) if unknown else ""
        raise ValueError(
            f"Expected {path} to have a {what} for each label of the data, "
            f"{_listed(wanted)}; received {'; '.join(told)}.{hint} Rows are true labels and "
            "columns decisions."
        )
    return [names.index(name) for name in wanted]


def _check_one_side(
    path: pathlib.Path,
    rows: list[str] | None,
    columns: list[str] | None,
    labels: Sequence[str],
) -> None:
    """Raises a ValueError if names on one side alone leave the order on the other side open."""
    if (rows is None) == (columns is None):
        return
    named, other = ("columns", "rows") if rows is None else ("rows", "columns")
    names = rows or columns or []
    if [name for name in names if name in labels] != list(labels):
        raise ValueError(
            f"Expected {path} to name its {other} too, since its {named} are matched by their "
            f"names and not in the sorted order of labels, {_listed(labels)}, in which {other} "
            f"without names are taken; received the {named} {_listed(names)}."
        )


def _checked(
    path: pathlib.Path, matrix: np.ndarray, labels: Sequence[str], extra: Sequence[str]
) -> CostTable:
    """Returns the table, if it has a row for each label and a column for each decision."""
    size = len(labels), len(labels) + len(extra)
    if matrix.shape != size:
        raise ValueError(
            f"Expected {path} to hold {size[0]} x {size[1]} costs, a row and a column for each "
            f"label of the data, {_listed(labels)}; received the shape "
            f"{' x '.join(map(str, matrix.shape))}."
        )
    try:
        matrix = amounts("cost_matrix", matrix, 2, "(K, D)")
        dearest = np.diagonal(regret(matrix))
    except ValueError as error:
        raise ValueError(f"{error} The file is {path}.") from error
    if dearest.any():
        row = int(np.argmax(dearest > 0))
        raise ValueError(
            f"Expected {path} to hold costs C[true, decision] by which the right decision is the "
            f"cheapest; received for the true label {labels[row]!r} the costs "
            f"{matrix[row].tolist()}."
        )
    return CostTable(matrix, tuple(labels), (*labels, *extra))


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"{', '.join(map(repr, names[:8]))}{more}"
