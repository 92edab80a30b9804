"""The trials behind the figures of each algorithm, as `choices.csv` keeps them."""

import collections
import dataclasses
import math
import pathlib
from collections.abc import Sequence

from csdl_keras.experiments.csv_files import read_csv
from csdl_keras.experiments.results import CellRow

#: Choices whose values are the paper's and are never widened.
_OF_THE_PAPER = ("beta", "corruption")


@dataclasses.dataclass(frozen=True)
class TrialRow(CellRow):
    """The columns of `choices.csv` that the report needs, see `Choice`; the last may be missing."""

    parameter: str
    value: str
    chosen: bool
    given: str = ""
    collapsed: bool = False
    validation: float = math.nan
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
        choices: number of choices whose search widens.
        edges: how many of these are the lowest or highest value that was tried.
        ties: how many of these do as well on validation as the next lower or higher value.
        corruptions: number of chosen corruptions.
        highest: how many of these are the highest one, 0.4, of the paper's values.
    """

    algorithm: str
    trials: int
    seconds: float
    collapsed: int | None
    choices: int
    edges: int
    ties: int = 0
    corruptions: int = 0
    highest: int = 0


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


def collapsed_on_validation(folder: pathlib.Path) -> dict[tuple[str, bool, str], set[float]]:
    """Returns the betas that collapsed on validation, by data set, variant and algorithm.

    Args:
        folder: results folder.

    Returns:
        `{(dataset, imbalanced, algorithm): betas}`; empty if there is no `choices.csv`.
    """
    path = folder / "choices.csv"
    values = collections.defaultdict(set)
    for row in read_csv(path, TrialRow) if path.exists() else ():
        if row.parameter == "beta" and row.collapsed:
            values[row.dataset, row.imbalanced, row.algorithm].add(float(row.value))
    return dict(values)


def _summary(algorithm: str, rows: Sequence[TrialRow]) -> SearchSummary:
    # The value that one choice ended with is tried again with the first values of the next.
    trials = {row.cell or f"row {number}": row for number, row in enumerate(rows)}
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row.dataset, row.imbalanced, row.parameter, row.given].append(row)
    chosen, corruptions = list[tuple[int, list[TrialRow]]](), list[bool]()
    for (_, _, parameter, _), group in groups.items():
        ordered = sorted(group, key=lambda row: float(row.value))
        at = [place for place, row in enumerate(ordered) if row.chosen]
        if parameter == "corruption":
            corruptions += [place == len(ordered) - 1 for place in at]
        elif parameter not in _OF_THE_PAPER:
            chosen += [(place, ordered) for place in at]
    return SearchSummary(
        algorithm,
        len(trials),
        sum(row.train_seconds for row in trials.values()),
        sum(row.collapsed for row in trials.values()) if all(it.cell for it in rows) else None,
        len(chosen),
        sum(place in (0, len(ordered) - 1) for place, ordered in chosen),
        sum(_is_tied(place, ordered) for place, ordered in chosen),
        len(corruptions),
        sum(corruptions),
    )


def _is_tied(place: int, ordered: Sequence[TrialRow]) -> bool:
    neighbours = [it for at, it in enumerate(ordered) if abs(at - place) == 1]
    return any(it.validation == ordered[place].validation for it in neighbours)
