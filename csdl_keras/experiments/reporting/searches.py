"""The trials behind the figures of each algorithm, as `choices.csv` keeps them."""

import collections
import dataclasses
import math
import pathlib
from collections.abc import Sequence

from csdl_keras.experiments.csv_files import read_csv
from csdl_keras.experiments.results import CellRow

#: Choices whose ends, 0 and 1, are natural: no value lies beyond them.
_CLOSED = ("beta", "corruption")


@dataclasses.dataclass(frozen=True)
class TrialRow(CellRow):
    """The columns of `choices.csv` that the report needs, see `Choice`; the last may be missing."""

    parameter: str
    value: str
    chosen: bool
    given: str = ""
    collapsed: bool = False
    train_seconds: float = math.nan
    cell: str = ""


@dataclasses.dataclass(frozen=True)
class SearchSummary:
    """The search of an algorithm, over all data sets.

    Args:
        algorithm: name of the algorithm.
        trials: number of trainings that were tried, each once.
        seconds: their seconds, shared stages in full; NaN if unknown.
        collapsed: number of trials that decide no better than one decision for all; `None`
            if unknown.
        choices: number of choices without natural ends.
        edges: how many of these are the lowest or highest value that was tried.
    """

    algorithm: str
    trials: int
    seconds: float
    collapsed: int | None
    choices: int
    edges: int


def read_searches(folder: pathlib.Path) -> list[SearchSummary]:
    """Reads `choices.csv` of a results folder.

    Args:
        folder: results folder.

    Returns:
        A `SearchSummary` for each algorithm; an empty list if there is no such file.

    Raises:
        ValueError: if columns are missing or values do not fit.
    """
    path = folder / "choices.csv"
    if not path.exists():
        return []
    rows = collections.defaultdict(list)
    for row in read_csv(path, TrialRow):
        rows[row.algorithm].append(row)
    return [_summary(name, own) for name, own in rows.items()]


def collapsed_trials(
    folder: pathlib.Path, parameter: str
) -> dict[tuple[str, bool, str], set[float]]:
    """Returns the values that collapsed on validation, by data set, variant and algorithm.

    Args:
        folder: results folder.
        parameter: the parameter of the values, such as `"beta"`.

    Returns:
        `{(dataset, imbalanced, algorithm): values}`; empty if there is no `choices.csv`.
    """
    path = folder / "choices.csv"
    values = collections.defaultdict(set)
    for row in read_csv(path, TrialRow) if path.exists() else ():
        if row.parameter == parameter and row.collapsed:
            values[row.dataset, row.imbalanced, row.algorithm].add(float(row.value))
    return dict(values)


def _summary(algorithm: str, rows: Sequence[TrialRow]) -> SearchSummary:
    # The value that one choice ended with is tried again with the first values of the next.
    trials = {row.cell or f"row {number}": row for number, row in enumerate(rows)}
    groups = collections.defaultdict(list)
    for row in rows:
        if row.parameter not in _CLOSED:
            groups[row.dataset, row.imbalanced, row.parameter, row.given].append(row)
    chosen = [
        (float(row.value), [float(it.value) for it in group])
        for group in groups.values()
        for row in group
        if row.chosen
    ]
    return SearchSummary(
        algorithm,
        len(trials),
        sum(row.train_seconds for row in trials.values()),
        sum(row.collapsed for row in trials.values()) if all(it.cell for it in rows) else None,
        len(chosen),
        sum(not min(values) < value < max(values) for value, values in chosen),
    )
