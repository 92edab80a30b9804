"""The tables of `worth.py`, in Markdown."""

import pandas as pd
from formats import markdown_table
from worth_comparisons import (
    BASE,
    BY_LIKELIHOOD,
    CELL,
    WAYS,
    WITH_SOSR,
    compare,
    costs_of,
    name_of,
    words,
)
from worth_sets import POOL, TEST

DECISIONS = ("argmax", "Bayes", BY_LIKELIHOOD, "SOSR", "Poisson")
TITLES = {
    "model": "How wrong the model is",
    "confidence": "How overconfident the network is",
    "ratio": "How unequal the costs are",
    "rare": "How rare a third of the classes is",
    "classes": "How many classes there are",
    "labels": "How few the labels are",
}


def _cell(costs: pd.DataFrame, first: str, second: str) -> str:
    found = compare(costs, first, second, fewest=1)
    return "–" if found is None else found.text()


def _size(costs: pd.Series) -> str:
    """Counts seeds and the matrices of each."""
    seeds = costs.groupby(level="seed").size()
    return f"{len(seeds)} × {seeds.max()}"


def _decisions(frame: pd.DataFrame) -> list[str]:
    """Formats what decisions cost beside calibrated Bayes, for each condition."""
    head = ["condition", f"cost of {BASE}", *(f"{it} / {BASE}" for it in DECISIONS)]
    head += ["confidence − accuracy", "seeds × matrices"]
    body = []
    for key, part in frame.groupby(list(CELL), sort=False):
        costs = costs_of(part)
        if BASE not in costs:
            continue
        body.append(
            [
                words(dict(zip(CELL, key, strict=True))),
                f"{costs[BASE].mean():.3g}",
                *(_cell(costs, name, BASE) for name in DECISIONS),
                f"{part['excess'].mean():+.3f}",
                _size(costs[BASE].dropna()),
            ]
        )
    return markdown_table(head, body)


def _clean(frame: pd.DataFrame) -> list[str]:
    """Formats costs under the labels before the noise."""
    noisy = frame[(frame["noise"] > 0) & (frame["beyond"] == 1)]
    head = ["condition, test labels without noise", *(f"{it} / {BASE}" for it in DECISIONS)]
    body = []
    for key, part in noisy.groupby(list(CELL), sort=False):
        costs = costs_of(part, "clean_cost")
        cells = [_cell(costs, name, BASE) for name in DECISIONS]
        body.append([words(dict(zip(CELL, key, strict=True))), *cells])
    return markdown_table(head, body) if body else []


def _pretrainings(frame: pd.DataFrame) -> list[str]:
    """Formats what pre-trainings cost beside none, before calibrated Bayes and before SOSR."""
    lines = []
    for method, ways in ((BY_LIKELIHOOD, WAYS[1:]), ("SOSR", WITH_SOSR[1:])):
        base = name_of("none", method)
        names = [name_of(way, method) for way in ways]
        head = ["condition", f"cost of {base}", *(f"{name} / {base}" for name in names)]
        head.append("seeds × matrices")
        body = []
        for key, part in frame.groupby(list(CELL), sort=False):
            costs = costs_of(part)
            condition, cost = words(dict(zip(CELL, key, strict=True))), costs[base].mean()
            cells = [_cell(costs, name, base) for name in names]
            body.append([condition, f"{cost:.3g}", *cells, _size(costs[base].dropna())])
        lines += [*markdown_table(head, body), ""]
    return lines


def _searches(frame: pd.DataFrame) -> list[str]:
    """Formats trials, seconds, scales and flags of each method."""
    head = ["method", "results", "trials", "seconds", "scale of costs", "on the edge"]
    head += ["at the limit", "collapsed"]
    own = frame[frame["beyond"] == 1]
    body = []
    for name, part in own.groupby("method", sort=False):
        means = [f"{part[it].mean():.1f}" for it in ("trials", "seconds")]
        means.append(f"{part['cost_scale'].median():g}")
        flags = [f"{part[it].mean():.1%}" for it in ("on_edge", "at_limit", "collapsed")]
        body.append([name, str(len(part)), *means, *flags])
    return markdown_table(head, body)


#: What was compared on, for readers of the tables and of the chart.
SETTING = (
    f"Sets of {POOL:,} examples, of which the labelled ones are drawn, and {TEST:,} for the test: "
    "`mnist` (14x14 pixels) and `cifar10` (16x16, grey), blocks of four pixels averaged; "
    "`diamonds` (five cuts by price, size and grade) and `upsell` (two classes, bank "
    "telemarketing), tables. In two classes, digits are even or odd, photographs show animals or "
    "vehicles; a hundred classes are those of two images side by side; diamonds in 2, 10 or 100 "
    "classes are sorted by price. Label noise changes labels of training, validation and test "
    "examples. Costs are drawn from [0, 10], unless the condition says otherwise. "
    "Fully-connected networks with rectified linear units; where pre-trainings are compared, two "
    "layers of 64 or of 500 logistic units: smaller than the paper's in all respects."
)


def report(frame: pd.DataFrame) -> str:
    """Returns all tables."""
    lines = [
        "Costs of decisions on the test examples, in pairs of the same seed and cost matrix: "
        "geometric means of ratios and, with several seeds, 95 % intervals over them, bold where "
        "they exclude 1. "
        "A result has collapsed if it takes one decision for all examples or costs no less than "
        "the best constant decision.",
        "",
        SETTING,
        "",
    ]
    for part, title in TITLES.items():
        own = frame[frame["part"] == part]
        if len(own):
            table = _pretrainings(own) if part == "labels" else _decisions(own)
            lines += [f"## {title}", "", *table, ""]
            if part == "confidence":
                lines += [*_clean(own), ""]
    lines += ["## What the searches took", "", *_searches(frame), ""]
    lines += [
        "Trials and seconds are those of the search, of which there is one for each cost matrix; "
        "networks of probabilities, the first four methods, have one for all, which goes on where "
        "a matrix asks for it. The scale is the median, for SOSR in units of 1 / the "
        "largest cost. On the edge: a value next to the chosen one was not tried, since it is out "
        "of bounds. At the limit: the best snapshot is the last one."
    ]
    return "\n".join(lines) + "\n"
