"""Makes the tables that the documentation's guides show, from the committed results.

    python benchmarks/guide_tables.py

prints all of them. The guides call `show` while the documentation is built, so that no figure in
them can differ from its file. Each table ends with the command, the versions and the date of the
run that made it.
"""

import csv
import json
import pathlib
import re
import statistics
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import coverage_table
import effort
import example_costs
import numpy as np
import pretraining_table
import speed_tables
import streaming
from formats import MeanRatio, markdown_table

if TYPE_CHECKING:
    from IPython.display import Markdown

RESULTS = pathlib.Path(__file__).parent / "results"
NOTEBOOKS = pathlib.Path(__file__).parent.parent / "notebooks" / "results"
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


def chosen_peers_table(methods: Collection[str]) -> list[str]:
    """Formats the mean cost of some methods on each data set."""
    costs = costs_by_method(read("peers"))
    datasets = list(dict.fromkeys(dataset for dataset, _ in costs))
    body = [
        [method, *(f"{costs[dataset, method].mean():.3f}" for dataset in datasets)]
        for method in methods
    ]
    return markdown_table(["average test cost", *(f"`{name}`" for name in datasets)], body)


#: Methods on the same linear learner.
LINEAR = (
    "logistic, argmax",
    "costsensitive weighted one-vs-rest",
    "logistic, Bayes",
    "logistic, temperature, Bayes",
)
REDUCTIONS = (
    "costsensitive weighted one-vs-rest",
    "costsensitive weighted all-pairs",
    "costsensitive regression one-vs-rest",
    "costsensitive filter tree",
    "Vowpal Wabbit csoaa",
    "csdl_keras calibrated_bayes",
)


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


def compared_table(*folders: str) -> list[str]:
    """Formats cost, error rate and seconds of the algorithms of `csdl-keras compare`."""
    rows = []
    for folder in folders:
        with (NOTEBOOKS / folder / "results.csv").open(newline="") as file:
            rows += list(csv.DictReader(file))
    body = []
    for name in dict.fromkeys(row["algorithm"] for row in rows):
        own = [row for row in rows if row["algorithm"] == name]
        costs, errors, seconds = (
            [float(row[column]) for row in own]
            for column in ("average_cost", "error_rate", "train_seconds")
        )
        spread = statistics.stdev(costs) / len(costs) ** 0.5
        cells = [f"`{name}`", f"{statistics.mean(costs):.3f} ± {spread:.3f}"]
        cells += [f"{statistics.mean(errors):.1%}", f"{statistics.mean(seconds):.0f}"]
        body.append((statistics.mean(costs), cells))
    head = ["algorithm", "average test cost", "error rate", "seconds of training"]
    return markdown_table(head, [cells for _, cells in sorted(body)])


def effort_table() -> list[str]:
    """Formats cost and seconds of each effort, and of three algorithms of the paper, on images."""
    found = effort.means(read("effort"))
    ways = [way for way in dict.fromkeys(way for _, way in found) if "before" not in way]
    body = []
    for dataset in dict.fromkeys(name for name, _ in found):
        cells = [f"`{dataset}`"]
        for way in ways:
            cost, spread, seconds, seeds = found.get((dataset, way), (None,) * 4)
            error = f" ± {spread:.3f}" if cost and seeds > 2 else ""
            cells.append(f"{cost:.3f}{error}, {seconds:.0f} s" if cost else "")
        body.append(cells)
    names = [f'`"{way}"`' if way in effort.EFFORTS else f"`{way}`" for way in ways]
    return markdown_table(["average test cost, seconds", *names], body)


#: A table of the report of the benchmark of tables, from its heading to the next empty line.
_TABLES = r"Costs {} when deciding:\n\n(.+?)\n\n"


def tables_table(knowledge: str, parts: Collection[str] = ("",)) -> list[str]:
    """Returns methods on tables whose costs are `"known"` or `"unknown"` when deciding.

    Args:
        knowledge: the one or the other.
        parts: a method is returned if one of them is in its name. Defaults to all methods.
    """
    text = (RESULTS / "tables" / "tables.md").read_text()
    found = re.search(_TABLES.format(knowledge), text, flags=re.DOTALL)
    if found is None:
        raise ValueError(f"Expected costs {knowledge} when deciding in tables.md; received none.")
    head, rule, *body = found[1].splitlines()
    return [head, rule, *(line for line in body if any(part in line for part in parts))]


def empulse_table() -> list[str]:
    """Returns empulse's methods and this package's, by what they know of costs."""
    known = tables_table("known", ("csdl_keras", "empulse"))
    unknown = tables_table("unknown", ("csdl_keras cost_model", "empulse"))

    def marked(lines: list[str], knowledge: str) -> list[str]:
        return [f"| {knowledge} {line}" for line in lines]

    head, rule = f"| costs when deciding {known[0]}", f"| --- {known[1]}"
    return [head, rule, *marked(known[2:], "known"), *marked(unknown[2:], "unknown")]


def streaming_table() -> list[str]:
    """Formats seconds and memory of streamed training."""
    return streaming.table(read("streaming")).split("\n\n")[0].splitlines()


def tried_table() -> list[str]:
    """Formats each change that was tried for networks of images, and its ratio of cost."""
    rows = read("tried", "effort")
    body = [[row["tried"], row["set"], row["ratio"]] for row in rows]
    return markdown_table(["what was tried", "images", "cost with / without"], body, left=2)


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


def _table(name: str) -> Callable[[], list[str]]:
    """Returns the function that makes a table."""
    if name.startswith("speed/"):
        return lambda: speed_tables.entry_table(name.removeprefix("speed/"))
    return _MAKERS[name][1]


_MAKERS: dict[str, tuple[str, Callable[[], list[str]]]] = {
    "compare": ("mnist_5k_default", lambda: compared_table("mnist_5k_default")),
    "compare, five matrices": (
        "mnist_5k",
        lambda: compared_table("mnist_5k", "mnist_5k_lowest"),
    ),
    "effort": ("effort/effort", effort_table),
    "tried": ("effort/effort", tried_table),
    "peers": ("peers/peers", peers_table),
    "peers, linear": ("peers/peers", lambda: chosen_peers_table(LINEAR)),
    "peers, reductions": ("peers/peers", lambda: chosen_peers_table(REDUCTIONS)),
    "tables, empulse": ("tables/tables", empulse_table),
    "tables, known": ("tables/tables", lambda: tables_table("known")),
    "tables, unknown": ("tables/tables", lambda: tables_table("unknown")),
    "ensembles": ("ensembles/peers", ensembles_table),
    "calibration": ("calibration/calibration", calibration_table),
    "example_costs": ("example_costs/example_costs", lambda: example_costs_tables(images=True)),
    "example_costs, tables": (
        "example_costs/example_costs",
        lambda: example_costs_tables(images=False),
    ),
    "pretraining_map": (
        "pretraining_map/pretraining_map",
        lambda: report_tables(pretraining_table.report(read("pretraining_map"))),
    ),
    "interruptions": ("interruptions/torch", interruptions_table),
    "streaming": ("streaming/streaming", streaming_table),
    "coverage": ("coverage/coverage", lambda: coverage_table.summary(read("coverage"))),
    "speed, goals": ("speed/speed", speed_tables.goals_table),
    "speed, missed": ("speed/speed", speed_tables.missed_table),
    "speed, convolution": (
        "speed/speed",
        lambda: speed_tables.entry_table("convolution_step", "convolution"),
    ),
    "speed, agreement": ("speed/second/speed", speed_tables.agreement_table),
}


def names() -> list[str]:
    """Returns the names of all tables."""
    entries = speed_tables.entries()
    return [*_MAKERS, *(f"speed/{entry}" for entry in entries)]


def origin(name: str) -> str:
    """Returns the command, versions and date of the run that made a table's figures."""
    source = "speed/speed" if name.startswith("speed/") else _MAKERS[name][0]
    record = NOTEBOOKS / source / "run.json"
    if record.exists():
        run = json.loads(record.read_text())
        run = run.get("runs", [run])[-1]
        versions = ", ".join(f"{key} {value}" for key, value in run["versions"].items())
        return f"`{run['command']}`, {versions}, {run['date'][:10]}."
    report = RESULTS / f"{source}.md"
    if report.exists():
        return report.read_text().strip().splitlines()[-1]
    command, _, versions = (RESULTS / f"{source}.txt").read_text().splitlines()[0].partition(", ")
    return f"`{command}`, {versions}."


def show(*names: str, made: bool = True) -> "Markdown":
    """Shows tables in a guide, with what made the figures of the last one unless `made=False`."""
    from IPython.display import Markdown

    tables = ["\n".join(_table(name)()) for name in names]
    return Markdown("\n\n".join([*tables, *([f"*Made by* {origin(names[-1])}"] if made else [])]))


if __name__ == "__main__":
    for each in names():
        print(f"{each}:\n\n" + "\n".join(_table(each)()) + f"\n\n{origin(each)}\n")
