"""Sentences and lines about how figures were made: sizes, searches, what is missing."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from csdl_keras.experiments.reporting.column import PAPER_LAYERS
from csdl_keras.experiments.reporting.doubled import Doubled, EpochsRow
from csdl_keras.experiments.reporting.escaping import visible
from csdl_keras.experiments.reporting.paper import variant_title
from csdl_keras.experiments.reporting.searches import SearchSummary
from csdl_keras.experiments.reporting.table import Table
from csdl_keras.training.algorithms import get_algorithm

#: Heads of the table of searches, see `search_line`.
SEARCH_HEADS = ["algorithm", "trials", "hours", "collapsed", "choices on the edge of their search"]

#: Explains the table of searches.
SEARCHED = (
    "Values are tried on validation examples with the first cost matrix and training seed, and "
    "then kept; test examples choose nothing. Each training counts once for an algorithm, with the "
    "hours of the stages that it shares with others, and one that two algorithms use counts for "
    "both; one that was interrupted counts from where it went on. A choice is on the edge if it is "
    "the lowest or highest value tried, and tied if the next lower or higher value does as well on "
    "validation, as networks do that collapse to the same decision. β and corruption are left "
    "out: their values are the paper's."
)

#: Heads of the table of doubled epochs, see `doubled_line`.
DOUBLED_HEADS = ["data set", "algorithm", "epochs", "cost", "epochs, doubled limit", "cost"]


def setting(
    table: Table, searches: Sequence[SearchSummary], runs: Sequence[dict[str, Any]] = ()
) -> str:
    """Says how large networks and data are, beside the paper's, and how much was tried.

    Args:
        table: the results.
        searches: what was tried.
        runs: the records of the runs; if they computed in several ways, all are named.

    Returns:
        A sentence.
    """
    layers = sorted({it for column in table.columns for it in column.hidden_units})
    examples = sorted({column.train_size for column in table.columns})
    matrices = [column.matrices for column in table.columns]
    seeds = [cell.seeds for column in table.columns for cell in column.cells.values()]
    words = []
    if layers:
        full = "; ".join(it.title for it in table.columns if it.has_paper_size)
        size = f"the paper's are {PAPER_LAYERS}{', as here on ' * bool(full)}{full}"
        if layers == [PAPER_LAYERS]:
            size = "as in the paper"
        words.append(f"hidden layers of fully-connected networks {', '.join(layers)} ({size})")
    words.append(f"{_span(examples)} examples for training and validation{_whole_sets(table)}")
    words.append(
        f"{_span(matrices)} cost matri{'ces' if max(matrices) > 1 else 'x'}, "
        f"{_span(seeds)} training seed{'s' if max(seeds) > 1 else ''}"
    )
    if searches:
        seconds = sum(it.seconds for it in searches)
        hours = f" in {seconds / 3600:.1f} hours" if math.isfinite(seconds) else ""
        words.append(f"{sum(it.trials for it in searches)} trials of values on validation{hours}")
    ways = dict.fromkeys(map(_way, runs))
    if len(ways) > 1:
        words.append(f"computed in {len(ways)} ways: {', '.join(ways)}")
    return f"The setting: {'; '.join(words)}."


def searched(searches: Sequence[SearchSummary]) -> str:
    """Explains the table of searches, with how many corruptions are the highest one tried."""
    every, highest = (
        sum(getattr(it, name) for it in searches) for name in ("corruptions", "highest")
    )
    ends = f" Chosen corruptions that are the highest of those, 0.4: {highest} of {every}."
    return SEARCHED + ends * bool(every)


def _way(run: Mapping[str, Any]) -> str:
    """Names the backend, the precision and the accelerators of a run."""
    machine = run.get("machine")
    on = machine.get("accelerators") if isinstance(machine, dict) else None
    # Until 0.2 all values were written as text.
    in_half = str(run.get("arguments", {}).get("mixed_precision")) == "True"
    return visible(f"{run.get('backend')}{' in bfloat16' * in_half} on {on or 'the processor'}")


def _span(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _whole_sets(table: Table) -> str:
    """Says how many examples the paper's sets have, of which these figures use fewer."""
    whole = {
        it.title: it.name.examples
        for it in table.columns
        if it.name.examples and not it.imbalanced and it.train_size < it.name.examples
    }
    told = ", ".join(f"{size:,} of {title}" for title, size in whole.items())
    return f" (the paper's sets have more: {told})" if whole else ""


def search_line(search: SearchSummary) -> list[str]:
    """The cells of a row that tells what was tried for an algorithm, below `SEARCH_HEADS`."""
    return [
        get_algorithm(search.algorithm).title,
        str(search.trials),
        f"{search.seconds / 3600:.2f}" if math.isfinite(search.seconds) else "–",
        "–" if search.collapsed is None else str(search.collapsed),
        f"{search.edges} of {search.choices}" + f", {search.ties} tied" * bool(search.ties)
        if search.choices
        else "–",
    ]


def doubled_line(pair: tuple[EpochsRow, EpochsRow]) -> list[str]:
    """A cell and the same one with twice the epochs, below `DOUBLED_HEADS`."""
    plain, _ = pair
    return [
        variant_title(plain.dataset, plain.imbalanced),
        get_algorithm(plain.algorithm).title,
        *(
            words
            for row in pair
            for words in (str(row.epochs), f"{row.average_cost:.3f}{'*' * row.collapsed}")
        ),
    ]


def doubled_verdict(doubled: Doubled) -> str:
    """Says which verdicts twice the epochs change on these cells alone."""
    asked = f"{doubled.claims} claim{'s' if doubled.claims != 1 else ''}"
    verdict = f"On these cells alone no verdict changes, of {asked} that they bear on."
    if doubled.changed:
        changes = [f"{it}: from {old} to {new}" for it, (old, new) in doubled.changed.items()]
        verdict = (
            f"On these cells alone, of {asked} that they bear on, the verdict changes on: "
            f"{'; '.join(changes)}. Cells are of one training each, with intervals over test "
            "examples alone."
        )
    if doubled.changed_pairs:
        verdict += (
            f" Comparisons that end otherwise, of {doubled.pairs}: "
            f"{', '.join(doubled.changed_pairs)}."
        )
    star = any(row.collapsed for pair in doubled.cells for row in pair)
    return (
        "The limit of epochs and the patience are doubled; a training that stops improving still "
        f"ends before the limit. {verdict}{' * Collapsed on validation.' * star}"
    )


def once(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the last record of each command; a command that goes on has several."""
    return list({str(run.get("command")): run for run in runs}.values())
