"""Sentences and lines about how figures were made: sizes, searches, what is missing."""

import collections
import math
from collections.abc import Sequence
from typing import Any

from csdl_keras.experiments.data_source import DataSource
from csdl_keras.experiments.reporting.doubled import Doubled, EpochsRow
from csdl_keras.experiments.reporting.paper import data_title
from csdl_keras.experiments.reporting.searches import SearchSummary
from csdl_keras.experiments.reporting.table import Table
from csdl_keras.training.algorithms import get_algorithm

#: The hidden layers of the networks that the paper reports.
_PAPER_LAYERS = "3000-3000-3000"

#: Heads of the table of searches, see `search_line`.
SEARCH_HEADS = ["algorithm", "trials", "hours", "collapsed", "choices on the edge of their search"]

#: Explains the table of searches.
SEARCHED = (
    "Values are tried on validation examples with the first cost matrix and training seed, and "
    "then kept; test examples choose nothing. Each training counts once, with the hours of the "
    "stages that it shares with others; one that was interrupted counts from where it went on. A "
    "choice is on the edge if it is the lowest or highest "
    "value tried; β and corruption have natural ends and are left out."
)

#: Heads of the table of doubled epochs, see `doubled_line`.
DOUBLED_HEADS = ["data set", "algorithm", "epochs", "cost", "with twice the epochs", "cost"]


def setting(table: Table, searches: Sequence[SearchSummary]) -> str:
    """Says how large networks and data are, beside the paper's, and how much was tried."""
    layers = sorted({it for column in table.columns for it in column.hidden_units})
    examples = sorted({column.train_size for column in table.columns})
    matrices = max(column.matrices for column in table.columns)
    seeds = max(cell.seeds for column in table.columns for cell in column.cells.values())
    words = []
    if layers:
        same = layers == [_PAPER_LAYERS]
        size = "the paper's size" if same else f"not the paper's {_PAPER_LAYERS}"
        words.append(f"hidden layers of fully-connected networks {', '.join(layers)} ({size})")
    words.append(
        f"{' to '.join(f'{it:,}' for it in dict.fromkeys((examples[0], examples[-1])))} "
        "examples for training and validation"
    )
    words.append(
        f"{matrices} cost matri{'ces' if matrices > 1 else 'x'} at most, "
        f"{seeds} training seed{'s' if seeds > 1 else ''}"
    )
    if searches:
        seconds = sum(it.seconds for it in searches)
        hours = f" in {seconds / 3600:.1f} hours" if math.isfinite(seconds) else ""
        words.append(f"{sum(it.trials for it in searches)} trials of values on validation{hours}")
    return f"The setting: {'; '.join(words)}."


def search_line(search: SearchSummary) -> list[str]:
    """The cells of a row that tells what was tried for an algorithm, below `SEARCH_HEADS`."""
    return [
        get_algorithm(search.algorithm).title,
        str(search.trials),
        f"{search.seconds / 3600:.2f}" if math.isfinite(search.seconds) else "–",
        "–" if search.collapsed is None else str(search.collapsed),
        f"{search.edges} of {search.choices}" if search.choices else "–",
    ]


def doubled_line(pair: tuple[EpochsRow, EpochsRow]) -> list[str]:
    """A cell and the same one with twice the epochs, below `DOUBLED_HEADS`."""
    plain, twice = pair
    title = data_title(plain.dataset).title
    return [
        f"{title}, imbalanced" if plain.imbalanced else title,
        get_algorithm(plain.algorithm).title,
        str(plain.epochs),
        f"{plain.average_cost:.3f}",
        str(twice.epochs),
        f"{twice.average_cost:.3f}",
    ]


def doubled_verdict(doubled: Doubled) -> str:
    """Says which verdicts twice the epochs change on these cells alone."""
    asked = f"{doubled.claims} claim{'s' if doubled.claims != 1 else ''}"
    if not doubled.changed:
        return f"On these cells alone no verdict changes, of {asked}."
    return (
        f"On these cells alone, of {asked}, the verdict changes on: {'; '.join(doubled.changed)}."
    )


def missing(table: Table, runs: Sequence[dict[str, Any]]) -> list[str]:
    """Says which results of the runs are still to come, and which data were not at hand."""
    shown = {DataSource(it.dataset, it.imbalanced).label: it for it in table.columns}
    planned: dict[str, dict[str, int]] = collections.defaultdict(dict)
    unavailable: dict[str, str] = {}
    for run in runs:
        record = run.get("settings")
        settings = record if isinstance(record, dict) else {}
        unavailable |= settings.get("unavailable", {})
        for name in settings.get("datasets", ()):
            label = DataSource.parse(name).label
            for algorithm, number in settings.get("planned", {}).items():
                planned[label][algorithm] = max(number, planned[label].get(algorithm, 0))
    lines = []
    for label, algorithms in planned.items():
        column = shown.get(label)
        cells = {} if column is None else column.results
        left = [
            f"{get_algorithm(name).title} ({number - cells.get(name, 0)} of {number})"
            for name, number in algorithms.items()
            if cells.get(name, 0) < number
        ]
        if left:
            title = label if column is None else column.title
            lines.append(f"Still to run on {title}: {', '.join(left)}.")
    for name, why in unavailable.items():
        lines.append(f"Not run, since its data were not at hand: {data_title(name).title}. {why}")
    return lines


def once(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the last record of each command; a command that goes on has several."""
    return list({str(run.get("command")): run for run in runs}.values())
