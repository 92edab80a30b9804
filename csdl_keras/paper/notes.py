"""The report's sentences and lines about data, runs and what is missing."""

import collections
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas

from csdl_keras.evaluation._report_text import warning
from csdl_keras.paper.beta_curve import BetaCurve
from csdl_keras.paper.results import words
from csdl_keras.paper.table2 import PAPER_LAYERS, Column, groups
from csdl_keras.paper.titles import data_title, label_title, paper_table2, variant_title
from csdl_keras.training.algorithms import PAPER_ALGORITHMS, Algorithm, get_algorithm

DATA_HEADS = ["data set", "training and validation", "test", "matrices", "largest cost"]
DATA_HEADS += ["hidden layers"]


def setting(
    columns: Sequence[Column], searches: pandas.DataFrame, runs: Sequence[dict[str, Any]] = ()
) -> str:
    """Says how large networks and data are, beside the paper's, and how much was tried."""
    layers = sorted({it for column in columns for it in column.hidden_units})
    matrices = [column.matrices for column in columns]
    seeds = [seeds for column in columns for seeds in column.cells["seeds"]]
    parts = []
    if layers:
        full = "; ".join(it.title for it in columns if it.has_paper_size)
        size = f"the paper's are {PAPER_LAYERS}{', as here on ' * bool(full)}{full}"
        if layers == [PAPER_LAYERS]:
            size = "as in the paper"
        parts.append(f"hidden layers of fully-connected networks {', '.join(layers)} ({size})")
    smaller = ", ".join(
        f"{it.name.examples:,} of {it.title}"
        for it in columns
        if not it.imbalanced and it.train_size < it.name.examples
    )
    whole = f" (the paper's sets have more: {smaller})" * bool(smaller)
    examples = _span([column.train_size for column in columns])
    parts.append(f"{examples} examples for training and validation{whole}")
    parts.append(
        f"{_span(matrices)} cost matri{'ces' if max(matrices) > 1 else 'x'}, "
        f"{_span(seeds)} training seed{'s' if max(seeds) > 1 else ''}"
    )
    if len(searches):
        seconds = searches["seconds"].sum(skipna=False)
        hours = f" in {seconds / 3600:.1f} hours" if math.isfinite(seconds) else ""
        parts.append(f"{searches['trials'].sum():.0f} trials of values on validation{hours}")
    ways = dict.fromkeys(map(_way, runs))
    if len(ways) > 1:
        parts.append(f"computed in {len(ways)} ways: {', '.join(ways)}")
    return f"The setting: {'; '.join(parts)}."


def _way(run: Mapping[str, Any]) -> str:
    """Names the backend, the precision and the accelerators of a run."""
    machine = run.get("machine")
    on = machine.get("accelerators") if isinstance(machine, dict) else None
    # Until 0.2 all values were written as text.
    in_half = str(run.get("arguments", {}).get("mixed_precision")) == "True"
    return f"{run.get('backend')}{' in bfloat16' * in_half} on {on or 'the processor'}"


def _span(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def missing_lines(columns: Sequence[Column], runs: Sequence[dict[str, Any]]) -> list[str]:
    """Says where no algorithm beats a constant decision, and which results are not there.

    These are results of the runs that are still to come, and those of the paper's table.
    """
    shown = {_label(it.dataset, it.imbalanced): it for it in columns}
    planned, unavailable = _asked(runs)
    lines = []
    for column in columns:
        known = column.cells[column.cells["saved"].notna()]
        savings = {get_algorithm(name).title: cell for name, cell in known.iterrows()}
        if savings and (told := warning(savings)):
            lines.append(f"{column.title}: {told}")
    for label, algorithms in planned.items():
        cells = shown[label].cells["results"] if label in shown else {}
        left = [
            f"{get_algorithm(name).title} ({number - cells.get(name, 0)} of {number} results)"
            for name, number in algorithms.items()
            if cells.get(name, 0) < number
        ]
        if left:
            lines.append(f"Still to run on {label_title(label)}: {', '.join(left)}.")
    for name, why in unavailable.items():
        lines.append(f"Not run, since its data were not at hand: {data_title(name).title}. {why}")
    # Rows of the paper's table that no run was asked for.
    absent = collections.defaultdict(list)
    for label in dict.fromkeys([*shown, *planned]):
        asked = {*planned.get(label, ()), *(shown[label].cells.index if label in shown else ())}
        rows = [get_algorithm(name).title for name in PAPER_ALGORITHMS if name not in asked]
        absent[", ".join(rows)].append(label_title(label))
    lines += [f"Not run on {'; '.join(on)}: {names}." for names, on in absent.items() if names]
    titles = [title for title, why in _absent_sets(columns, runs) if why == "not run"]
    return lines + [f"Not run of the paper's data sets: {'; '.join(titles)}."] * bool(titles)


def data_lines(columns: Sequence[Column], runs: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Sizes, matrices and largest costs of data sets below `DATA_HEADS`, absent ones last."""
    lines = []
    for column in columns:
        ends = [f"{end(column.largest.values(), default=0):.1f}" for end in (min, max)]
        largest = " to ".join(dict.fromkeys(ends)) if column.largest else "–"
        sizes = f"{column.train_size:,}", f"{column.test_size:,}" if column.test_size else "–"
        layers = ", ".join(column.hidden_units) or "–"
        lines.append([column.heading(), *sizes, str(column.matrices), largest, layers])
    return lines + [[title, why, *"––––"] for title, why in _absent_sets(columns, runs)]


def _absent_sets(
    columns: Sequence[Column], runs: Sequence[dict[str, Any]]
) -> list[tuple[str, str]]:
    """Returns titles of the paper's data sets that have no results, and why."""
    planned, unavailable = _asked(runs)
    shown = {(column.name.paper, column.imbalanced) for column in columns if column.name.same}
    absent = []
    for name, imbalanced in _paper_sets():
        if (name, imbalanced) not in shown:
            why = "still to run" if _label(name, imbalanced) in planned else "not run"
            why = "not run, its data were not at hand" if name in unavailable else why
            absent.append((variant_title(name, imbalanced), why))
    return absent


def _paper_sets() -> list[tuple[str, bool]]:
    return list(dict.fromkeys((name, imbalanced) for name, imbalanced, _ in paper_table2().index))


def _asked(runs: Sequence[dict[str, Any]]) -> tuple[dict[str, dict[str, int]], dict[str, str]]:
    """Returns the number of results planned, by data set and algorithm, and data not at hand."""
    matrices: dict[str, dict[str, int]] = collections.defaultdict(dict)
    seeds: dict[str, int] = collections.defaultdict(int)
    unavailable: dict[str, str] = {}
    for run in runs:
        record = run.get("settings")
        settings = record if isinstance(record, dict) else {}
        unavailable |= settings.get("unavailable", {})
        for label in settings.get("datasets", ()):
            unavailable.pop(label.removesuffix("_imb"), None)  # A later run had them.
            seeds[label] = max(seeds[label], settings.get("seeds", 1))
            for algorithm, asked in settings.get("planned", {}).items():
                asked //= settings.get("seeds", 1)
                matrices[label][algorithm] = max(asked, matrices[label].get(algorithm, 0))
    # A network that was asked for with fewer seeds than others on its data set lacks the rest.
    planned = {
        label: {
            name: asked * (seeds[label] if get_algorithm(name).body_kind.is_network else 1)
            for name, asked in own.items()
        }
        for label, own in matrices.items()
    }
    return planned, unavailable


def _label(name: str, imbalanced: bool) -> str:
    return name + "_imb" * imbalanced


def row_title(algorithm: Algorithm) -> str:
    """Returns the title of an algorithm, marked if the paper's table does not have it."""
    return algorithm.title + " †" * (not algorithm.in_table2)


def mapping(value: object) -> str:
    """Formats an entry of a run's record, such as `"keras 3.15, cores 2"`; a dash if empty."""
    if isinstance(value, dict):
        value = ", ".join(f"{name} {each}" for name, each in value.items())
    return str(value) if value not in (None, "") else "–"


def collapsed_betas(curve: BetaCurve) -> str:
    """Says at which betas a network collapsed, so that the curve tells nothing of them."""
    betas = ", ".join(f"{beta:g}" for beta in curve.collapsed)
    return (
        f"{curve.title}: collapsed at β = {betas}: the network decides no better than one decision "
        "for all examples; the curve says nothing of β there."
    )


def table_notes(columns: Sequence[Column]) -> list[str]:
    """Returns the notes that readers of these columns need, as sentences without markup."""
    cells = pandas.concat([column.cells for column in columns])
    names = [column.name for column in columns]
    rows = [row for _, members in groups(columns) for row in members]
    others = [column.title for column in columns if column.name.paper is None]
    facts: dict[str | None, Any] = {
        None: True,
        "diverged": cells["diverged"].any(),
        "collapsed": _places(columns, "collapsed"),
        "tried_again": _places(columns, "tried_again"),
        "unknown_ties": cells["tied"].isna().any(),
        "paper": any(name.paper for name in names),
        "paper_imbalanced": any(it.name.paper and it.imbalanced for it in columns),
        "other_data": not all(name.same for name in names),
        "colours": {"SVHN", "CIFAR-10"} & {name.title for name in names},
        "others": "; ".join(others),
        "extra": ", ".join(row.title for row in rows if not row.in_table2),
    }
    told = [it["text"] for it in words()["notes"] if facts[it.get("when")]]
    return [text.format_map(facts) for text in told]


def _places(columns: Sequence[Column], count: str) -> str:
    """Names the algorithms and data sets of which some results count, and how many of all."""
    return "; ".join(
        f"{get_algorithm(name).title} on {column.title} ({cell[count]} of {cell['results']})"
        for column in columns
        for name, cell in column.cells.iterrows()
        if cell[count]
    )
