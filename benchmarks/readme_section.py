"""Prints README's tables of the results in `benchmarks/results`.

python benchmarks/readme_section.py
"""

import csv
import pathlib
import re
import sys

import coverage_table
import example_costs
import numpy as np
import pretraining_table
from formats import MeanRatio, markdown_table

sys.path.append(str(pathlib.Path(__file__).parent / "speed"))
import agreement  # noqa: E402

RESULTS = pathlib.Path(__file__).parent / "results"
SINGLE = "csdl_keras one network, Bayes"
OURS = ("calibrated_bayes", "ensemble_bayes")


def read(name: str, folder: str | None = None) -> list[dict[str, str]]:
    """Reads the rows of a result."""
    with (RESULTS / (folder or name) / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def costs_by_method(rows: list[dict[str, str]]) -> dict[tuple[str, str], np.ndarray]:
    """Returns costs by data set and method, one for each split and matrix."""
    found: dict = {}
    for row in rows:
        found.setdefault((row["dataset"], row["method"]), []).append(float(row["average_cost"]))
    return {key: np.array(values) for key, values in found.items()}


def peers_table() -> list[str]:
    """Formats the best peer on each data set, and the default algorithms."""
    costs = costs_by_method(read("peers"))
    measured = [set(d for d, m in costs if m == f"csdl_keras {name}") for name in OURS]
    datasets = [d for d in dict.fromkeys(d for d, _ in costs) if all(d in s for s in measured)]
    peers = {method for _, method in costs if not method.startswith("csdl_keras")}
    body = [[f"the best of {len(peers)} peers"]]
    for dataset in datasets:
        best = min(
            (m for d, m in costs if d == dataset and m in peers),
            key=lambda m: costs[dataset, m].mean(),
        )
        body[0].append(f"{costs[dataset, best].mean():.3f} ({best})")
    for name in OURS:
        values = [costs[dataset, f"csdl_keras {name}"] for dataset in datasets]
        body.append([f"`{name}`", *(f"{value.mean():.3f}" for value in values)])
    return markdown_table(["average test cost", *(f"`{name}`" for name in datasets)], body)


def ensembles_table() -> list[str]:
    """Formats the cost of the ensemble relative to one network."""
    costs = costs_by_method(read("peers", "ensembles"))
    datasets = list(dict.fromkeys(dataset for dataset, _ in costs))
    body = [[f"`{name}`"] for name in OURS]
    for row, name in zip(body, OURS, strict=True):
        for dataset in datasets:
            own = costs[dataset, f"csdl_keras {name}"]
            row.append(MeanRatio.of(own, costs[dataset, SINGLE]).text())
    return markdown_table(["cost beside one network's", *(f"`{name}`" for name in datasets)], body)


def calibration_table() -> list[str]:
    """Formats the cost after each calibration relative to none."""
    costs: dict = {}
    for row in read("calibration"):
        key = (row["dataset"], row["members"], row["method"])
        costs.setdefault(key, []).append(float(row["average_cost"]))
    columns = list(dict.fromkeys(key[:2] for key in costs))
    body = []
    for method in dict.fromkeys(key[2] for key in costs):
        if method.endswith(("prior 1.0", "no prior")):
            pairs = ((costs[*column, method], costs[*column, "none"]) for column in columns)
            body.append([method, *(MeanRatio.of(*pair).text() for pair in pairs)])
    names = [f"`{name}`, {n} network{'s' if n != '1' else ''}" for name, n in columns]
    return markdown_table(["cost beside no calibration's", *names], body)


def report_tables(text: str) -> list[str]:
    """Returns the first table of a report, without rows that are not measured everywhere."""
    found = []
    for line in text.splitlines():
        if line.startswith("|"):
            found += [] if "| – " in line else [line]
        elif found:
            break
    return found


def example_costs_tables(images: bool) -> list[str]:
    """Formats costs by example on images with generated costs, or on tables with their own."""
    rows = [row for row in read("example_costs") if ("/" in row["problem"]) == images]
    return report_tables(example_costs.table(rows))


def speed_table(entry: str) -> list[str]:
    """Formats the figures of an entry by backend, bold if the goal is met."""
    rows = [row for row in read("speed") if row["entry"] == entry]
    if entry == "pareto":
        rows = [row for row in rows if not row["x"]]
    backends = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}
    cells: dict = {}
    for row in rows:
        spread = f" ({row['low']}–{row['high']})" if row["low"] != row["high"] else ""
        value = f"**{row['value']}**" if row["met"] == "yes" else row["value"]
        case = (row["case"], row["measure"])
        goals, values = cells.setdefault(case, ([], {}))
        goals += [row["goal"]] if row["goal"] and row["goal"] not in goals else []
        values[row["backend"]] = value + spread
    body = [
        [f"{case}: {measure}", *(values.get(name, "") for name in backends), "; ".join(goals)]
        for (case, measure), (goals, values) in cells.items()
    ]
    return markdown_table(["what", *backends.values(), "goal"], body)


def agreement_table() -> list[str]:
    """Formats the agreement of a second run of the measurements of speed with the first."""
    rows = agreement.summary(read("speed"), read("speed", "speed/second"))
    return markdown_table(["entry", *agreement.FIELDS], rows)


_COUNTED = re.compile(
    r"(.+): (\d+) times in (\d+) runs, (\d+) of which lost something; off by (\S+) at most"
)


def interruptions_table() -> list[str]:
    """Formats how often training was interrupted, from pytest's summary."""
    text = (RESULTS / "interruptions" / "torch.txt").read_text()
    found = [match.groups() for match in map(_COUNTED.fullmatch, text.splitlines()) if match]
    body = [list(cells) for cells in found if cells[1] != "0"]
    names = ["interruptions", "runs", "runs that lost something", "weights off by at most"]
    return markdown_table(["what was stopped, and how", *names], body)


def tables() -> dict[str, list[str]]:
    """Returns the tables of all results by name."""
    makers = {
        "peers": peers_table,
        "ensembles": ensembles_table,
        "calibration": calibration_table,
        "example_costs": lambda: example_costs_tables(images=True),
        "example_costs_tables": lambda: example_costs_tables(images=False),
        "interruptions": interruptions_table,
        "coverage": lambda: coverage_table.summary(read("coverage")),
        "pretraining_map": lambda: report_tables(pretraining_table.report(read("pretraining_map"))),
    }
    found = {name: RESULTS / name.removesuffix("_tables") for name in makers}
    made = {name: make() for name, make in makers.items() if found[name].is_dir()}
    if (RESULTS / "speed").is_dir():
        entries = dict.fromkeys(row["entry"] for row in read("speed"))
        made |= {f"speed, {entry}": speed_table(entry) for entry in entries}
        made["speed, agreement"] = agreement_table()
    return made


if __name__ == "__main__":
    for name, table in tables().items():
        print(f"{name}:\n\n" + "\n".join(table) + "\n")
