"""Formats the tables of `coverage.py` in Markdown."""

from collections.abc import Iterator, Sequence

import numpy as np
from formats import markdown_table

FIELDS = ("part", "case", "size", "method", "measure", "value", "runs")


def averages(found: dict[tuple[str, str], list]) -> Iterator[dict]:
    """Yields a row for each method and measure."""
    for (method, measure), values in found.items():
        value = float(np.mean(values))
        yield {"method": method, "measure": measure, "value": value, "runs": len(values)}


def cells(rows: Sequence[dict], part: str, method: str, measure: str) -> dict[tuple, float]:
    """Returns values by case and size."""
    return {
        (row["case"], int(row["size"])): float(row["value"])
        for row in rows
        if (row["part"], row["method"], row["measure"]) == (part, method, measure)
    }


def grid(rows: Sequence[dict], part: str, measure: str, head: str, percent: bool) -> list[str]:
    """Formats values of cases and methods by sizes."""
    own = [row for row in rows if (row["part"], row["measure"]) == (part, measure)]
    sizes = sorted({int(row["size"]) for row in own})
    body = []
    for case in dict.fromkeys(row["case"] for row in own):
        for method in dict.fromkeys(row["method"] for row in own if row["case"] == case):
            values = cells(own, part, method, measure)
            texts = [
                (f"{values[case, n]:.3f}" if percent else f"{values[case, n]:.3g}")
                if (case, n) in values
                else "–"
                for n in sizes
            ]
            body.append([case, method, *texts])
    return markdown_table(["case", "method", *(f"{head} = {n:,}" for n in sizes)], body, left=2)


def measures(rows: Sequence[dict], part: str, head: str) -> list[str]:
    """Formats values of cases and measures by sizes, of the package alone."""
    named = [
        row | {"method": row["measure"], "measure": "rate"} for row in rows if row["part"] == part
    ]
    lines = grid(named, part, "rate", head, True)
    return [lines[0].replace("| method |", "| how often |", 1), *lines[1:]]


def summary(rows: Sequence[dict]) -> list[str]:
    """Formats the lowest, mean and highest value of each method over all cases and sizes."""
    lines = ["| | method | lowest | mean | highest |", "| --- | --- | ---: | ---: | ---: |"]
    alike = [case for case in dict.fromkeys(r["case"] for r in rows) if "against" not in case]
    what = {
        ("interval", "covers"): "95 % intervals of the cost hold it",
        ("comparison", "covers"): "95 % intervals of a difference hold it",
        ("comparison", "called different"): "models that cost the same, called different",
        ("matrices", "called different"): "rows that cost the same, called different in the report",
    }
    for (part, measure), text in what.items():
        methods = dict.fromkeys(
            row["method"] for row in rows if (row["part"], row["measure"]) == (part, measure)
        )
        for method in methods:
            values = [
                value
                for (case, size), value in cells(rows, part, method, measure).items()
                # A single matrix says nothing about others.
                if (measure == "covers" or case in alike) and (part != "matrices" or size > 1)
            ]
            if values:
                shown = (min(values), sum(values) / len(values), max(values))
                numbers = " | ".join(f"{value:.3f}" for value in shown)
                lines.append(f"| {text} | {method} | {numbers} |")
    return lines


def results(rows: Sequence[dict]) -> list[str]:
    """Formats the findings of the two rules on committed results."""
    body = [
        [row["measure"], row["method"], f"{float(row['value']):.0f}"]
        for row in rows
        if row["part"] == "results"
    ]
    return markdown_table(["what", "by", "number"], body, left=2)


def table(rows: Sequence[dict]) -> str:
    """Formats all tables."""
    parts = [
        ("Over all cases and sizes below", summary(rows)),
        (
            "`cost_interval`: how often it holds the expected cost",
            grid(rows, "interval", "covers", "N", True),
        ),
        ("Its mean width", grid(rows, "interval", "width", "N", False)),
        (
            "`compare_costs`: how often models are called different (the last two cases: are)",
            grid(rows, "comparison", "called different", "N", True),
        ),
        (
            "How often its interval holds the difference",
            grid(rows, "comparison", "covers", "N", True),
        ),
        (
            "How often interval and test contradict each other",
            grid(rows, "comparison", "contradicts itself", "N", True),
        ),
        ("Its mean width", grid(rows, "comparison", "width", "N", False)),
        ("`cost_report`: equal models with p < .05", measures(rows, "report", "N")),
        (
            "`csdl-keras report`: rows that cost the same, called different, by matrices",
            grid(rows, "matrices", "called different", "M", True),
        ),
        ("Mean width of the interval", grid(rows, "matrices", "width", "M", False)),
        ("Bold rows and verdicts, by matrices", measures(rows, "verdicts", "M")),
        (
            "`notebooks/results/small`: how many of what, by this rule and by the bootstrap",
            results(rows),
        ),
    ]
    return "\n".join(f"## {heading}\n\n" + "\n".join(lines) + "\n" for heading, lines in parts)
