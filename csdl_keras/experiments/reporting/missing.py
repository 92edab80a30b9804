"""Lines about results that are missing: still to come, not asked for, or without data at hand."""

import collections
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from csdl_keras.experiments.data_source import DataSource
from csdl_keras.experiments.reporting.paper import data_title, paper_table2, variant_title
from csdl_keras.experiments.reporting.table import Table
from csdl_keras.experiments.reporting.text import DATA_HEADS, data_line
from csdl_keras.experiments.saving import warning
from csdl_keras.training.algorithms import PAPER_ALGORITHMS, get_algorithm

_NOT_RUN = "not run"


def missing_lines(table: Table, runs: Sequence[dict[str, Any]]) -> list[str]:
    """Says where no algorithm beats a constant decision, and which results are not there.

    These are results of the runs that are still to come, and those of the paper's table.

    Args:
        table: the results.
        runs: the records of the runs, with what was planned and which data were not at hand.

    Returns:
        Sentences.
    """
    shown = {DataSource(it.dataset, it.imbalanced).label: it for it in table.columns}
    planned, unavailable = _asked(runs)
    lines = []
    for each in table.columns:
        savings = {get_algorithm(name).title: cell.saving for name, cell in each.cells.items()}
        if told := warning(savings):
            lines.append(f"{each.title}: {told}")
    for label, algorithms in planned.items():
        column = shown.get(label)
        cells = {} if column is None else column.cells
        left = [
            f"{get_algorithm(name).title} ({number - done} of {number} results)"
            for name, number in algorithms.items()
            if (done := cells[name].results if name in cells else 0) < number
        ]
        if left:
            source = DataSource.parse(label)
            title = variant_title(source.name, source.imbalanced)
            lines.append(f"Still to run on {title}: {', '.join(left)}.")
    for name, why in unavailable.items():
        lines.append(f"Not run, since its data were not at hand: {data_title(name).title}. {why}")
    lines += _rows_not_asked(table, planned)
    titles = [title for title, why in absent_sets(table, runs) if why == _NOT_RUN]
    if titles:
        lines.append(f"Not run of the paper's data sets: {'; '.join(titles)}.")
    return lines


def absent_sets(table: Table, runs: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """Names the data sets of the paper that have no results, and says why.

    Args:
        table: the results.
        runs: the records of the runs.

    Returns:
        Pairs of title and reason.
    """
    planned, unavailable = _asked(runs)
    shown = {(column.name.paper, column.imbalanced) for column in table.columns if column.name.same}
    absent = []
    for name, imbalanced in dict.fromkeys((name, it) for name, it, _ in paper_table2()):
        if (name, imbalanced) not in shown:
            why = "still to run" if DataSource(name, imbalanced).label in planned else _NOT_RUN
            why = "not run, its data were not at hand" if name in unavailable else why
            absent.append((variant_title(name, imbalanced), why))
    return absent


def data_lines(table: Table, runs: Sequence[dict[str, Any]]) -> list[list[str]]:
    """The lines of the table of data sets below `text.DATA_HEADS`, absent ones last."""
    dashes = ["–"] * (len(DATA_HEADS) - 2)
    absent = [[title, why, *dashes] for title, why in absent_sets(table, runs)]
    return [*map(data_line, table.columns), *absent]


def _asked(runs: Sequence[dict[str, Any]]) -> tuple[dict[str, dict[str, int]], dict[str, str]]:
    """Returns the number of results planned, by data set and algorithm, and data not at hand."""
    matrices: dict[str, dict[str, int]] = collections.defaultdict(dict)
    seeds: dict[str, int] = collections.defaultdict(int)
    unavailable: dict[str, str] = {}
    for run in runs:
        record = run.get("settings")
        settings = record if isinstance(record, dict) else {}
        unavailable |= settings.get("unavailable", {})
        for name in settings.get("datasets", ()):
            unavailable.pop(name.removesuffix("_imb"), None)  # A later run had them.
            label = DataSource.parse(name).label
            seeds[label] = max(seeds[label], settings.get("seeds", 1))
            for algorithm, number in settings.get("planned", {}).items():
                number //= settings.get("seeds", 1)
                matrices[label][algorithm] = max(number, matrices[label].get(algorithm, 0))
    # A network that was asked for with fewer seeds than others on its data set lacks the rest.
    planned = {
        label: {
            name: number * (seeds[label] if get_algorithm(name).body_kind.is_network else 1)
            for name, number in own.items()
        }
        for label, own in matrices.items()
    }
    return planned, unavailable


def _rows_not_asked(table: Table, planned: Mapping[str, Collection[str]]) -> list[str]:
    """Says which rows of the paper's table no run was asked for."""
    absent = collections.defaultdict(list)
    shown = {DataSource(it.dataset, it.imbalanced): it.cells for it in table.columns}
    for source in dict.fromkeys([*shown, *map(DataSource.parse, planned)]):
        known = {*shown.get(source, ()), *planned.get(source.label, ())}
        rows = [get_algorithm(name).title for name in PAPER_ALGORITHMS if name not in known]
        absent[", ".join(rows)].append(variant_title(source.name, source.imbalanced))
    return [f"Not run on {'; '.join(on)}: {names}." for names, on in absent.items() if names]
