"""The decision chart of `worth.py`: what to use when, with the ratios that say so."""

from typing import NamedTuple

import pandas as pd
from formats import markdown_table
from worth_arrows import RIVALS, SECTIONS, Arrow
from worth_comparisons import CELL, Comparison, Tally, compare, costs_of, tally, words
from worth_table import SETTING


class Answer(NamedTuple):
    """The answer to an arrow's question.

    Args:
        comparison: the comparison.
        cells: number of its conditions.
        collapsed: number of its pairs in which a network decides no better than one decision
            for all examples.
    """

    comparison: Comparison
    cells: int
    collapsed: int


def answer(frame: pd.DataFrame, arrow: Arrow) -> Answer | None:
    """Answers the question of an arrow; `None` if fewer than two pairs were measured."""
    rows = frame.query(arrow.query)
    if arrow.first not in set(rows["method"]):
        return None
    costs, names = costs_of(rows), [arrow.first, arrow.second]
    found = compare(costs, *names, pooled=True)
    if found is None:
        return None
    both = costs[names].dropna()
    collapsed = costs_of(rows, "collapsed")[names].loc[both.index].any(axis=1)
    return Answer(found, both.groupby(level=list(CELL)).ngroups, int(collapsed.sum()))


def advice(arrow: Arrow, found: Comparison) -> str:
    """Returns what to do."""
    if found.verdict < 0:
        return f"use {arrow.first}"
    if found.verdict > 0:
        return f"keep to {arrow.second}"
    return "either: no difference was found"


def _section(answers: dict[Arrow, Answer | None]) -> list[str]:
    body = []
    for arrow, found in answers.items():
        compared = f"{arrow.first} / {arrow.second}"
        if found is None:
            body.append([arrow.condition, "not known: fewer than two pairs", compared, *"–––"])
            continue
        row = [
            arrow.condition,
            f"→ {advice(arrow, found.comparison)}",
            compared,
            found.comparison.text(),
        ]
        body.append([*row, f"{found.comparison.pairs} in {found.cells}", str(found.collapsed)])
    head = ["if", "then", "compared", "ratio of costs", "pairs in conditions", "collapsed"]
    return markdown_table(head, body, left=3)


def _in_short(answers: dict[Arrow, Answer | None]) -> list[str]:
    """Formats all clear answers, by what costs less or more than what."""
    clear: dict[str, list[str]] = {}
    for arrow, it in answers.items():
        if it is not None and it.comparison.verdict:
            verb = "costs more than" if it.comparison.verdict > 0 else "costs less than"
            reason = f"{arrow.condition} ({it.comparison.ratio.value:.2f} times as much)"
            words = f"{arrow.first[0].upper()}{arrow.first[1:]} {verb} {arrow.second}"
            clear.setdefault(words, []).append(reason)
    return [f"- **{words}** if {'; if '.join(reasons)}." for words, reasons in clear.items()]


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
    sections = {
        title: {arrow: answer(frame, arrow) for arrow in arrows}
        for title, arrows in SECTIONS.items()
    }
    answers = {arrow: it for part in sections.values() for arrow, it in part.items()}
    total = sum(it is not None for it in answers.values())
    clear = sum(it is not None and it.comparison.verdict != 0 for it in answers.values())
    seeds = _range(frame.groupby("part")["seed"].nunique())
    lines = ["# When is each stage worth it?", "", *_in_short(answers), ""]
    lines += [
        f"In the other {total - clear} of {total} comparisons no difference was found. Each is the "
        "geometric mean of ratios of test costs with its 95 % interval, bold where that excludes "
        "1; below 1 the first method costs less. Pairs have the same examples, initial weights and "
        "cost matrix; intervals are over the means of each data set and seed, or over pairs of a "
        f"single one. By chance alone {0.05 * total:.0f} of {total} intervals would exclude 1. In "
        "a collapsed pair a network decides no better than one decision for all examples. "
        f"Seeds measured: {seeds}. Tables of all conditions are in `worth.md`.",
        "",
        SETTING,
        "",
    ]
    for title, part in sections.items():
        lines += [f"## {title}", "", *_section(part), ""]
    tallies = _tallies(frame)
    if tallies:
        lines += ["## Where training or pre-training on costs wins", "", *tallies, ""]
    return "\n".join(lines)
