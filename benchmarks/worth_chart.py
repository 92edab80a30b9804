"""The decision chart of `worth.py`: what to use when, with the ratios that say so."""

import pandas as pd
from formats import markdown_table
from worth_arrows import RIVALS, SECTIONS, Arrow
from worth_comparisons import CELL, Comparison, Tally, compare, costs_of, tally, words
from worth_table import SETTING


def answer(frame: pd.DataFrame, arrow: Arrow) -> tuple[Comparison, int] | None:
    """Returns the comparison of an arrow and the number of its cells."""
    rows = frame.query(arrow.query)
    if arrow.first not in set(rows["method"]):
        return None
    costs = costs_of(rows)
    found = compare(costs, arrow.first, arrow.second, pooled=True)
    if found is None:
        return None
    both = costs[[arrow.first, arrow.second]].dropna()
    return found, both.groupby(level=list(CELL)).ngroups


def advice(arrow: Arrow, found: Comparison) -> str:
    """Returns what to do."""
    if found.verdict < 0:
        return f"use {arrow.first}"
    if found.verdict > 0:
        return f"keep to {arrow.second}"
    return f"keep to {arrow.second}: no difference was found"


def _section(frame: pd.DataFrame, arrows: list[Arrow]) -> list[str]:
    body = []
    for arrow in arrows:
        answered = answer(frame, arrow)
        if answered is not None:
            found, cells = answered
            compared = f"{arrow.first} / {arrow.second}"
            counts = [f"{found.pairs} in {cells}"]
            body.append(
                [arrow.condition, f"→ {advice(arrow, found)}", compared, found.text(), *counts]
            )
    head = ["if", "then", "compared", "ratio of costs", "pairs in conditions"]
    return markdown_table(head, body, left=3) if body else []


def _list(title: str, found: Tally) -> list[str]:
    """Formats where a method won against another."""
    chance = 0.025 * found.cells
    lines = [
        f"- **{title}**: {found.cells} comparisons, one for each condition. The interval is below "
        f"1 in {found.below} (by chance alone, if nothing differed: {chance:.1f}), above 1 in "
        f"{found.above}."
    ]
    if not found.below:
        lines[0] += f" No condition in which it wins was found among {found.cells}."
    elif not found.sure:
        lines[0] += (
            f" With p-values multiplied by {found.cells}, none stays below .05: no condition in "
            "which it surely wins was found."
        )
    else:
        lines[0] += (
            f" With p-values multiplied by {found.cells}, {len(found.sure)} of them stay below .05."
        )
    for cell, comparison in found.won:
        sure = ", also after the correction" if (cell, comparison) in found.sure else ""
        lines.append(
            f"  - {words(cell)}: {comparison.ratio.text()}, {comparison.pairs} pairs{sure}"
        )
    return lines


def _tallies(frame: pd.DataFrame) -> list[str]:
    """Formats all conditions in which training or pre-training on costs wins."""
    # Networks that are trained too long are compared in the chart.
    costs = costs_of(frame[frame["beyond"] == 1])
    lines = []
    for first, second in RIVALS:
        found = tally(costs, first, second) if {first, second} <= set(costs.columns) else None
        if found is not None and found.cells:
            lines += _list(f"{first} against {second}", found)
    return lines


def _range(counts: pd.Series) -> str:
    low, high = counts.min(), counts.max()
    return str(low) if low == high else f"{low} to {high}"


def chart(frame: pd.DataFrame) -> str:
    """Returns the decision chart."""
    total = sum(answer(frame, it) is not None for part in SECTIONS.values() for it in part)
    seeds = _range(frame.groupby("part")["seed"].nunique())
    lines = ["# When is each stage worth it?", ""]
    lines += [
        f"{total} comparisons, each the geometric mean of ratios of test costs with its 95 % "
        "interval, bold where that excludes 1; below 1 the first method costs less. Pairs have the "
        "same examples, initial weights and cost matrix; intervals are over the means of each data "
        "set and seed, or over pairs of a single one. By chance alone "
        f"{0.05 * total:.0f} of {total} intervals would exclude 1. "
        f"Seeds measured: {seeds}. Tables of all conditions are in `worth.md`.",
        "",
        SETTING,
        "",
    ]
    for title, arrows in SECTIONS.items():
        table = _section(frame, arrows)
        if table:
            lines += [f"## {title}", "", *table, ""]
    tallies = _tallies(frame)
    if tallies:
        lines += ["## Where training or pre-training on costs wins", "", *tallies, ""]
    return "\n".join(lines)
