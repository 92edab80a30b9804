"""The map of `pretraining_map.py`, in Markdown."""

import numpy as np
from formats import MeanRatio, markdown_table
from pretraining_ways import WAYS


def mean_ratio(rows: list[dict], dataset: str, labels: str, way: str, base: str) -> str:
    """Formats the mean ratio of costs on the same seeds, bold if its interval excludes 1."""
    costs = {
        (row["way"], row["seed"]): float(row["average_cost"])
        for row in rows
        if (row["dataset"], row["labels"]) == (dataset, labels)
    }
    seeds = [seed for name, seed in costs if name == way and (base, seed) in costs]
    if len(seeds) < 2:
        return "–"
    ratio = MeanRatio.of(*([costs[name, seed] for seed in seeds] for name in (way, base)))
    return ratio.text() if ratio.low <= 1.0 <= ratio.high else f"**{ratio.text()}**"


def mean_cost(rows: list[dict], dataset: str, labels: str, way: str) -> str:
    """Formats the mean cost over seeds."""
    key = (way, dataset, labels)
    costs = [
        float(row["average_cost"])
        for row in rows
        if (row["way"], row["dataset"], row["labels"]) == key
    ]
    return f"{np.mean(costs):.2f} on average" if costs else "–"


def report(rows: list[dict]) -> str:
    """Returns the map: cost of each way as a ratio to no and to cost-blind pre-training."""
    columns = list(dict.fromkeys((row["dataset"], row["labels"]) for row in rows))
    names = [way for way in WAYS if any(row["way"] == way.name for row in rows)]
    head = ["way", *(f"{dataset}, {labels} labels" for dataset, labels in columns)]
    lines = []
    for title, bases in (
        ("no pre-training", {"mlp": "none", "conv": "conv none"}),
        ("cost-blind pre-training", {"mlp": "DAE", "conv": "conv DAE"}),
    ):
        body = []
        for way in names:
            base = bases[way.body]
            if way.name == base:
                cells = [mean_cost(rows, *column, base) for column in columns]
            else:
                cells = [mean_ratio(rows, *column, way.name, base) for column in columns]
            body.append([way.name, *cells])
        lines += [f"Cost in units of that with {title} of the same network:", ""]
        lines += [*markdown_table(head, body), ""]
    lines.append("Geometric means over seeds and 95 % intervals, bold where they exclude 1.")
    return "\n".join(lines) + "\n"
