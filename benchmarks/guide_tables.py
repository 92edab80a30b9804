"""Makes the tables that the documentation's guides show, from the committed results.

    python benchmarks/guide_tables.py

prints all of them. The guides call `show` while the documentation is built, so that no figure in
them can differ from its file. Each table ends with the command, the versions and the date of the
run that made it.
"""

import json
import re
import statistics
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import coverage_table
import coverage_tails
import effort
import example_costs
import kept_epoch
import peer_tables
import pretraining_table
import sosr_scale
import speed_tables
import streaming
from committed import NOTEBOOKS, RESULTS, read, rows_of
from formats import MeanRatio, markdown_table

if TYPE_CHECKING:
    from IPython.display import Markdown


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
    rows = [row for name in folders for row in rows_of(NOTEBOOKS / name / "results.csv")]
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


#: Networks of the paper, each with SOSR and with the Bayes decision.
_PAIRS = {
    "DNN": ("dnn_sosr", "dnn_bayes"),
    "SDAE": ("sdae_sosr", "sdae_bayes"),
    "SEAE": ("seae_sosr", "seae_bayes"),
    "CSDNN, SCAE": ("csdnn", "scae_bayes"),
    "CNN": ("cnn_sosr", "cnn_bayes"),
}


def sosr_table() -> list[str]:
    """Formats the cost of training with SOSR relative to the Bayes decision of the same network."""
    costs: dict = {}
    for row in rows_of(NOTEBOOKS / "small" / "results.csv"):
        dataset = f"`{row['dataset']}{'_imb' * (row['imbalanced'] == 'True')}`"
        own = costs.setdefault((dataset, row["algorithm"]), {})
        own[row["cost_seed"]] = float(row["average_cost"])
    datasets = list(dict.fromkeys(dataset for dataset, _ in costs))
    body = []
    for network, (sosr, bayes) in _PAIRS.items():
        cells = [network]
        for dataset in datasets:
            ours, others = costs[dataset, sosr], costs[dataset, bayes]
            pairs = [(ours[seed], others[seed]) for seed in ours if seed in others]
            cells.append(MeanRatio.of(*zip(*pairs, strict=True)).text())
        body.append(cells)
    return markdown_table(["SOSR beside Bayes", *datasets], body)


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
        "mnist_5k+mnist_5k_lowest",
        lambda: compared_table("mnist_5k", "mnist_5k_lowest"),
    ),
    "sosr": ("small", sosr_table),
    "effort": ("effort/effort", effort_table),
    "tried": ("effort/effort", tried_table),
    "peers": ("peers/peers", peer_tables.peers_table),
    "peers, linear": ("peers/peers", lambda: peer_tables.chosen_peers_table(peer_tables.LINEAR)),
    "peers, reductions": (
        "peers/peers",
        lambda: peer_tables.chosen_peers_table(peer_tables.REDUCTIONS),
    ),
    "tables, empulse": ("tables/tables", peer_tables.empulse_table),
    "tables, known": ("tables/tables", lambda: peer_tables.tables_table("known")),
    "tables, unknown": ("tables/tables", lambda: peer_tables.tables_table("unknown")),
    "ensembles": ("ensembles/peers", peer_tables.ensembles_table),
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
    "sosr_scale": (
        "sosr_scale/sosr_scale",
        lambda: report_tables(sosr_scale.table(read("sosr_scale"), read("choices", "sosr_scale"))),
    ),
    "kept_epoch": (
        "kept_epoch/kept_epoch",
        lambda: report_tables(kept_epoch.table(read("kept_epoch"))),
    ),
    "interruptions": ("interruptions/torch", interruptions_table),
    "streaming": ("streaming/streaming", streaming_table),
    "coverage": ("coverage/coverage", lambda: coverage_table.summary(read("coverage"))),
    "tails": ("coverage/tails", lambda: coverage_tails.summary(read("tails", "coverage"))),
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
    """Returns the commands, versions and dates of the runs that made a table's figures."""
    source = "speed/speed" if name.startswith("speed/") else _MAKERS[name][0]
    if all((NOTEBOOKS / folder).is_dir() for folder in source.split("+")):
        return _runs(source.split("+"))
    report = RESULTS / f"{source}.md"
    if report.exists():
        return report.read_text().strip().splitlines()[-1]
    command, _, versions = (RESULTS / f"{source}.txt").read_text().splitlines()[0].partition(", ")
    return f"`{command}`, {versions}."


def _runs(folders: Sequence[str]) -> str:
    """Returns the commands of folders of results, and versions and date of the last of them."""
    records = [json.loads((NOTEBOOKS / folder / "run.json").read_text()) for folder in folders]
    runs = [run for record in records for run in record.get("runs", [record])]
    commands = " and ".join(f"`{it}`" for it in dict.fromkeys(run["command"] for run in runs))
    last = max(runs, key=lambda run: run["date"])
    versions = ", ".join(f"{key} {value}" for key, value in last["versions"].items())
    return f"{commands}, {versions}, {last['date'][:10]}."


def show(*names: str, made: bool = True) -> "Markdown":
    """Shows tables in a guide, with what made the figures of the last one unless `made=False`."""
    from IPython.display import Markdown

    tables = ["\n".join(_table(name)()) for name in names]
    return Markdown("\n\n".join([*tables, *([f"*Made by* {origin(names[-1])}"] if made else [])]))


if __name__ == "__main__":
    for each in names():
        print(f"{each}:\n\n" + "\n".join(_table(each)()) + f"\n\n{origin(each)}\n")
