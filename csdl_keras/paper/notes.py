"""The report's sentences and tables about data, runs, searches and what is missing."""

import collections
import math
import pathlib
from collections.abc import Sequence
from typing import Any

import pandas

from csdl_keras.evaluation._report_text import number
from csdl_keras.paper.claims import claims
from csdl_keras.paper.results import PLACE, data_label, read_table, words
from csdl_keras.paper.table2 import Column, data_title, paper_table2, read_columns, variant_title
from csdl_keras.training.algorithms import get_algorithm

Runs = Sequence[dict[str, Any]]


def missing_lines(columns: Sequence[Column], runs: Runs) -> list[str]:
    """Returns a line for each data set with missing results."""
    shown = {it.label: it.cells["results"] for it in columns}
    planned, unavailable = _asked(runs)
    lines = []
    for label, algorithms in planned.items():
        done = shown.get(label, {})
        left = [
            f"{get_algorithm(name).title} ({asked - done.get(name, 0)} of {asked} results)"
            for name, asked in algorithms.items()
            if done.get(name, 0) < asked
        ]
        if left:
            lines.append(f"Still to run on {variant_title(label)}: {', '.join(left)}.")
    for name, why in unavailable.items():
        lines.append(f"Not run because the data are not available: {data_title(name).title}. {why}")
    return lines


def data_table(columns: Sequence[Column], runs: Runs) -> pandas.DataFrame:
    """Returns sizes, matrices and largest costs of data sets; those without results come last."""
    rows = {}
    for it in columns:
        ends = [f"{end(it.largest.values()):.1f}" for end in (min, max)]
        rows[it.label] = {
            "data set": it.heading,
            "training and validation": f"{it.train_size:,}",
            "test": f"{it.test_size:,}",
            "matrices": str(it.matrices),
            "largest cost": " to ".join(dict.fromkeys(ends)),
            "hidden layers": ", ".join(it.hidden_units) or "–",
        }
    planned, unavailable = _asked(runs)
    for name, imbalanced in paper_table2().index.droplevel("algorithm").unique():
        label = data_label(name, imbalanced)
        why = "still to run" if label in planned else "not run"
        why = "not run, data not available" if name in unavailable else why
        absent = {"data set": variant_title(label), "training and validation": why}
        rows.setdefault(label, absent)
    return pandas.DataFrame(list(rows.values())).fillna("–")


def _asked(runs: Runs) -> tuple[dict[str, dict[str, int]], dict[str, str]]:
    """Returns the number of results planned, by data set and algorithm, and unavailable data."""
    planned: dict[str, dict[str, int]] = collections.defaultdict(dict)
    unavailable: dict[str, str] = {}
    for run in runs:
        settings = run.get("settings") or {}
        unavailable |= settings.get("unavailable", {})
        for label in settings.get("datasets", ()):
            unavailable.pop(label.removesuffix("_imb"), None)  # A later run had the data.
            for algorithm, asked in settings.get("planned", {}).items():
                planned[label][algorithm] = max(asked, planned[label].get(algorithm, 0))
    return planned, unavailable


def runs_table(runs: Runs) -> pandas.DataFrame:
    """Returns versions and machines as text: a row for each command, of its last run."""
    last = {run["command"]: run for run in runs}.values()
    names = ["command", "date", "versions", "commit", "backend", "machine"]
    frame = pandas.DataFrame(last, columns=names, dtype=object).fillna("–").astype(str)
    for name in ("versions", "machine"):
        frame[name] = frame[name].str.replace("[{}']", "", regex=True)
    return frame


def table_notes(columns: Sequence[Column]) -> list[str]:
    """Returns the notes that readers of these columns need, as sentences without markup."""
    places = {}
    for count in ("collapsed", "tried_again"):
        found = [
            f"{get_algorithm(name).title} on {column.title} ({cell[count]} of {cell['results']})"
            for column in columns
            for name, cell in column.cells.iterrows()
            if cell[count]
        ]
        places[count] = "; ".join(found) or "none"
    return [text.format_map(places) for text in words()["notes"]]


def savings_table(columns: Sequence[Column]) -> pandas.DataFrame:
    """Returns what algorithms save relative to the best constant decision."""
    rows = []
    for column in columns:
        for name, cell in column.cells[column.cells["saved"].notna()].iterrows():
            decision = cell["constant_decision"]
            always = f", always deciding {decision}" * bool(decision)
            rows.append(
                {
                    "data set": column.heading,
                    "algorithm": get_algorithm(name).title,
                    "cost": column.text(name),
                    "constant decision": number(cell["constant_cost"]) + always,
                    "saved": number(cell["saved"]),
                    "95 % interval": " to ".join(
                        number(cell[end], 3) for end in ("saved_low", "saved_high")
                    ),
                }
            )
    return pandas.DataFrame(rows)


def searches_table(folder: pathlib.Path) -> pandas.DataFrame:
    """Counts what was tried for each algorithm, over all data sets, as `words()` describes."""
    choices = read_table(folder, "choices.csv").groupby("algorithm", sort=False)
    return pandas.DataFrame([_search(str(name), rows) for name, rows in choices])


def _search(name: str, rows: pandas.DataFrame) -> dict[str, str]:
    # The value that one choice ended with is tried again with the first values of the next.
    trials = rows[~rows["cell"].duplicated(keep="last") | rows["cell"].eq("")]
    rows = rows.assign(value=rows["value"].astype(float)).sort_values("value", kind="stable")
    searches = rows.groupby(["label", "parameter", "given"])
    lowest, highest = (searches.cumcount(ascending=it).eq(0) for it in (True, False))
    near = [rows["validation"].eq(searches["validation"].shift(step)) for step in (1, -1)]
    widened = rows["chosen"] & ~rows["parameter"].isin(["corruption", "beta"])
    edges, ties = widened & (lowest | highest), widened & (near[0] | near[1])
    told = f"{edges.sum()} of {widened.sum()}" + f", {ties.sum()} tied" * bool(ties.any())
    hours = trials["train_seconds"].sum(skipna=False) / 3600
    return {
        "algorithm": get_algorithm(name).title,
        "trials": str(len(trials)),
        "hours": "–" if math.isnan(hours) else f"{hours:.2f}",
        "collapsed": str(trials["collapsed"].sum()) if rows["cell"].ne("").all() else "–",
        "choices on the edge of their search": told if widened.any() else "–",
    }


def read_doubled(
    folder: pathlib.Path,
) -> tuple[pandas.DataFrame, dict[str, tuple[str, str]]] | None:
    """Returns cells next to those with twice the epochs, and the verdicts that change."""
    if not (folder / "doubled.csv").exists():
        return None
    plain, twice = (read_table(folder, name) for name in ("results.csv", "doubled.csv"))
    shared = twice[PLACE].merge(plain[PLACE])
    plain, twice = shared.merge(plain), shared.merge(twice)
    table = pandas.DataFrame({"data set": plain["label"].map(variant_title)})
    table["algorithm"] = [get_algorithm(name).title for name in plain["algorithm"]]
    verdicts = []
    for rows, limit, ending in ((plain, "", ""), (twice, ", doubled limit", "_doubled")):
        table[f"epochs{limit}"] = rows["epochs"].astype(str)
        stars = rows["collapsed"].map({True: "*", False: ""})
        table[f"cost{limit}"] = rows["average_cost"].map("{:.3f}".format) + stars
        found = claims(read_columns(folder, rows, ending), [])
        verdicts.append({claim.statement: claim.verdict for claim in found})
    before, after = verdicts
    return table, {it: (old, after[it]) for it, old in before.items() if old != after[it]}
