"""Measures speed and scale, each figure a ratio taken in one run.

    python benchmarks/run.py speed --out OUT           # everything, under half an hour on 2 cores
    python benchmarks/run.py speed --out OUT --quick   # smaller sizes, fewer rounds: 5 minutes
    python benchmarks/run.py speed --out OUT --only losses,import_time --backends jax

Each entry runs in separate processes for each installed backend, two unless the entry says
otherwise; all first processes run before the second ones, and the spreads of both are joined.
A finished entry replaces its rows in `OUT/speed.csv`; tables and plots are written at the end.
"""

import argparse
import importlib
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np
from paired import Ratio, Row

sys.path.append(str(pathlib.Path(__file__).parents[1]))
from results import Results, markdown_table  # noqa: E402

ENTRIES = (
    "import_time",
    "training_step",
    "convolution_step",
    "losses",
    "memory",
    "pretraining",
    "small_nets",
    "bayes_prediction",
    "grid_overhead",
    "csosr",
    "scaling",
    "pareto",
)
FIELDS = ("entry", "backend", "case", "measure", "value", "low", "high", "goal", "met", "note")
FIELDS += ("x", "y")
_RATIO = ("value", "low", "high")


def run_entry(name: str, quick: bool) -> None:
    """Measures one entry on the backend in use and prints rows as JSON."""
    for row in importlib.import_module(name).measure(quick):
        print(json.dumps(row.cells()), flush=True)


def table(rows: list[dict[str, str]]) -> str:
    """Formats a table for each entry in Markdown."""
    parts = []
    for name in dict.fromkeys(row["entry"] for row in rows):
        title = importlib.import_module(name).__doc__.splitlines()[0]
        lines = [
            f"**{title}**",
            "",
            "| case | backend | measure | median (5 % to 95 %) | goal | met | |",
            "| --- | --- | --- | ---: | --- | --- | --- |",
        ]
        for row in (row for row in rows if row["entry"] == name):
            spread = f" ({row['low']}–{row['high']})" if row["low"] != row["high"] else ""
            cells = [row["case"], row["backend"], row["measure"], row["value"] + spread]
            lines.append("| " + " | ".join([*cells, row["goal"], row["met"], row["note"]]) + " |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


BACKENDS = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}


def entry_table(rows: list[dict[str, str]]) -> list[str]:
    """Formats the figures of an entry by backend, bold if the goal is met."""
    cells: dict = {}
    for row in rows:
        if row["entry"] == "pareto" and row["x"]:
            continue
        spread = f" ({row['low']}–{row['high']})" if row["low"] != row["high"] else ""
        value = f"**{row['value']}**" if row["met"] == "yes" else row["value"]
        goals, values = cells.setdefault((row["case"], row["measure"]), ([], {}))
        goals += [row["goal"]] if row["goal"] and row["goal"] not in goals else []
        values[row["backend"]] = value + spread
    body = [
        [f"{case}: {measure}", *(values.get(name, "") for name in BACKENDS), "; ".join(goals)]
        for (case, measure), (goals, values) in cells.items()
    ]
    return markdown_table(["what", *BACKENDS.values(), "goal"], body)


def guide_tables(rows: list[dict[str, str]]) -> dict[str, list[str]]:
    """Returns the included tables: each entry, how many goals are met, and which are not."""
    entries = dict.fromkeys(row["entry"] for row in rows)
    by_entry = {name: [row for row in rows if row["entry"] == name] for name in entries}
    tables = {name: entry_table(own) for name, own in by_entry.items()}
    body = []
    for name, own in by_entry.items():
        cells = []
        for backend in BACKENDS:
            met = [row["met"] == "yes" for row in own if row["goal"] and row["backend"] == backend]
            cells.append(f"{sum(met)} of {len(met)}" if met else "–")
        if set(cells) != {"–"}:
            body.append([f"`{name}`", *cells])
    tables["goals"] = markdown_table(["goals met", *BACKENDS.values()], body)
    body = [
        [f"{row['case']}: {row['measure']}", BACKENDS[row["backend"]], row["value"], row["goal"]]
        for row in rows
        if row["met"] == "no"
    ]
    tables["missed"] = markdown_table(["what", "backend", "value", "goal"], body, left=2)
    return tables


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this benchmark."""
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer rounds")
    parser.add_argument("--only", default=",".join(ENTRIES), help="entries separated by commas")
    parser.add_argument("--backends", default=",".join(BACKENDS))


def measure(arguments: argparse.Namespace, results: Results) -> list[tuple[str, str]]:
    """Measures entries anew and returns those that failed, by name and backend."""
    import figures

    names = arguments.only.split(",")
    backends = [name for name in arguments.backends.split(",") if importlib.util.find_spec(name)]
    runs: dict[tuple[str, str], list] = {
        (name, backend): []
        for name in names
        for backend in backends
        if backend in importlib.import_module(name).BACKENDS
    }
    # Second processes run after all first ones, since a machine's speed differs between hours.
    for turn in range(1 if arguments.quick else 2):
        for (name, backend), done in runs.items():
            if turn < getattr(importlib.import_module(name), "PROCESSES", 2):
                start = time.perf_counter()
                done.append(rows_of_process(name, backend, arguments.quick))
                rows = joined(done)
                others = [
                    it for it in results.rows() if (it["entry"], it["backend"]) != (name, backend)
                ]
                found = sorted([*others, *rows], key=lambda row: ENTRIES.index(row["entry"]))
                results.write(found)
                print(table(rows) if rows else f"{name} on {backend} failed")
                print(f"{name} on {backend} took {time.perf_counter() - start:.0f} s", flush=True)
    figures.draw(results.rows(), results.path.parent)
    return [which for which, done in runs.items() if not all(done)]


def joined(runs: list[list[dict[str, str]]]) -> list[dict[str, str]]:
    """Joins the rows of several processes: the mean of medians, and the union of spreads."""
    if not all(runs):
        return []
    rows = []
    for same in zip(*runs, strict=True):
        value, low, high = (np.array([row[it] for row in same], float) for it in _RATIO)
        ratio = Ratio(value.mean(), low.min(), high.max())
        point = None
        if same[0]["x"]:
            point = tuple(np.mean([float(row[it]) for row in same]) for it in "xy")
        first = same[0]
        row = Row(first["case"], first["measure"], ratio, first["goal"], first["note"], point)
        rows.append({**first, **row.cells()})
    return rows


def rows_of_process(name: str, backend: str, quick: bool) -> list[dict[str, str]]:
    """Measures an entry in a process; returns no rows if it fails."""
    command = [sys.executable, __file__, name, *(["--quick"] if quick else [])]
    environment = {**os.environ, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        return []
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return [{"entry": name, "backend": backend, **json.loads(line)} for line in lines]


if __name__ == "__main__":
    run_entry(sys.argv[1], "--quick" in sys.argv)
