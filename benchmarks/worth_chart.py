"""The decision chart of `worth.py`: what to use when, with the ratios that say so."""

from typing import NamedTuple

import pandas as pd
from formats import markdown_table
from worth_comparisons import (
    BASE,
    CELL,
    Comparison,
    Tally,
    compare,
    costs_of,
    name_of,
    tally,
    words,
)

_IMAGES = "set in ('mnist', 'cifar10')"
_TABLE = "set in ('diamonds', 'upsell')"
_BEST = "beyond == 1"
_FEW, _MANY = "labels <= 250", "labels == 10000"
_DAE, _DAE_ALL, _SEAE_ALL, _CAE_ALL = (
    name_of(BASE, way) for way in ("DAE", "DAE on all", "SEAE on all", "CAE on all")
)


class Arrow(NamedTuple):
    """A question of the chart, answered by comparing two methods.

    Args:
        condition: when the question arises.
        first: the method that might be worth it.
        second: what it is compared with.
        query: the rows that it is about.
        yes: what to do if the interval is below 1.
        no: what to do if the interval is above 1.
        even: what to do if the interval includes 1.
    """

    condition: str
    first: str
    second: str
    query: str
    yes: str
    no: str
    even: str


def _worth(condition: str, first: str, second: str, query: str) -> Arrow:
    return Arrow(
        condition,
        first,
        second,
        query,
        f"use {first}",
        f"keep to {second}",
        f"no difference was found: keep to {second}",
    )


SECTIONS = {
    "Deciding": [
        _worth(
            "costs differ",
            "Bayes",
            "argmax",
            f"part in ('model', 'ratio', 'rare', 'classes') and costs != '1' and {_BEST}",
        ),
        _worth("costs are equal", "Bayes", "argmax", "part == 'ratio' and costs == '1'"),
        _worth(
            "training stops at its best",
            BASE,
            "Bayes",
            f"part in ('model', 'ratio', 'rare', 'classes') and costs != '1' and {_BEST}",
        ),
        _worth(
            "training goes on to 8 times its best updates",
            BASE,
            "Bayes",
            "part == 'confidence' and beyond == 8",
        ),
        _worth(
            "40 % of labels are wrong",
            BASE,
            "Bayes",
            f"part == 'confidence' and noise == 0.4 and {_BEST}",
        ),
    ],
    "Training on costs": [
        *(
            _worth(condition, method, BASE, query)
            for condition, query in (
                ("the model is linear", "part == 'model' and hidden == 'linear'"),
                ("the model has 4 hidden units", "part == 'model' and hidden == '4'"),
                ("the model has 256 hidden units", "part == 'model' and hidden == '256'"),
                (
                    "40 % of labels are wrong",
                    f"part == 'confidence' and noise == 0.4 and {_BEST}",
                ),
                (
                    "training goes on to 8 times its best updates",
                    "part == 'confidence' and beyond == 8",
                ),
                ("costs differ a thousandfold", "part == 'ratio' and costs == '1000'"),
                ("classes are rare, 4 % of their examples left", "part == 'rare' and kept == 0.04"),
                ("there are 2 classes", "part == 'classes' and set == 'parity of digits'"),
                ("there are 100 classes", "part == 'classes' and set == 'pairs of digits'"),
            )
            for method in ("SOSR", "Poisson")
        ),
        _worth(
            "training goes on to 8 times its best updates, and nothing calibrates",
            "SOSR",
            "Bayes",
            "part == 'confidence' and beyond == 8",
        ),
    ],
    "Pre-training": [
        _worth("images, 50 or 250 labels, more images", _DAE_ALL, BASE, f"{_IMAGES} and {_FEW}"),
        _worth("images, 50 or 250 labels, no more images", _DAE, BASE, f"{_IMAGES} and {_FEW}"),
        _worth("images, 10,000 labels", _DAE_ALL, BASE, f"{_IMAGES} and {_MANY}"),
        _worth("a table, 50 or 250 labels, more rows", _DAE_ALL, BASE, f"{_TABLE} and {_FEW}"),
        _worth("a table, 10,000 labels", _DAE_ALL, BASE, f"{_TABLE} and {_MANY}"),
        _worth("any number of labels, pre-training on errors", _SEAE_ALL, _DAE_ALL, "labels > 0"),
        _worth("any number of labels, pre-training on costs", _CAE_ALL, _DAE_ALL, "labels > 0"),
        _worth(
            "any number of labels, pre-training on costs, then SOSR",
            "SOSR, CAE on all",
            "SOSR, DAE on all",
            "labels > 0",
        ),
        _worth(
            "any number of labels, the paper's CSDNN",
            "SOSR, CAE on all",
            _DAE_ALL,
            "labels > 0",
        ),
    ],
}


def answer(frame: pd.DataFrame, arrow: Arrow) -> tuple[Comparison, int] | None:
    """Returns the comparison of an arrow and the number of its cells."""
    rows = frame.query(arrow.query)
    if arrow.first not in set(rows["method"]):
        return None
    own = rows[rows["part"] == "labels"] if "labels" in set(rows["part"]) else rows
    costs = costs_of(own)
    found = compare(costs, arrow.first, arrow.second, pooled=True)
    if found is None:
        return None
    both = costs[[arrow.first, arrow.second]].dropna()
    return found, both.groupby(level=list(CELL)).ngroups


def _advice(arrow: Arrow, found: Comparison) -> str:
    return {-1: arrow.yes, 0: arrow.even, 1: arrow.no}[found.verdict]


def _section(frame: pd.DataFrame, arrows: list[Arrow]) -> list[str]:
    body = []
    for arrow in arrows:
        answered = answer(frame, arrow)
        if answered is not None:
            found, cells = answered
            compared = f"{arrow.first} / {arrow.second}"
            counts = [f"{found.pairs} in {cells}"]
            body.append(
                [arrow.condition, f"→ {_advice(arrow, found)}", compared, found.text(), *counts]
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
        lines[0] += f" With p-values multiplied by {found.cells}, none remains below .05."
    else:
        lines[0] += (
            f" With p-values multiplied by {found.cells}, {len(found.sure)} remain below .05."
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
    best = frame[frame["beyond"] == 1]
    decisions, ways = (
        costs_of(best[(best["part"] == "labels") == labelled]) for labelled in (False, True)
    )
    lines = []
    for costs, first, second in (
        (decisions, "SOSR", BASE),
        (decisions, "SOSR", "Bayes"),
        (decisions, "SOSR", "argmax"),
        (decisions, "Poisson", BASE),
        (decisions, "SOSR", "Poisson"),
        (ways, _DAE_ALL, BASE),
        (ways, _DAE, BASE),
        (ways, _SEAE_ALL, _DAE_ALL),
        (ways, _CAE_ALL, _DAE_ALL),
        (ways, "SOSR, CAE on all", "SOSR, DAE on all"),
        (ways, "SOSR, CAE on all", _DAE_ALL),
    ):
        if {first, second} <= set(costs.columns):
            lines += _list(f"{first} against {second}", tally(costs, first, second))
    return lines


def chart(frame: pd.DataFrame) -> str:
    """Returns the decision chart."""
    total = sum(answer(frame, it) is not None for part in SECTIONS.values() for it in part)
    lines = ["# When is each stage worth it?", ""]
    lines += [
        f"{total} comparisons, each the geometric mean of ratios of test costs with its 95 % "
        "interval, bold where that excludes 1; below 1 the first method costs less. Pairs have the "
        "same examples, initial weights and cost matrix; intervals are over the means of each data "
        f"set and seed. By chance alone {0.05 * total:.0f} of {total} intervals would exclude 1. "
        "Small fully-connected networks, see `benchmarks/worth.py`.",
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
