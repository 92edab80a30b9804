"""Measures speed and scale, each figure a ratio taken in one run.

    python benchmarks/speed/run.py                 # everything, under half an hour on 2 cores
    python benchmarks/speed/run.py --quick         # smaller sizes and fewer rounds, under 5 minutes
    python benchmarks/speed/run.py --only losses,import_time --backends jax

Each entry runs in separate processes for each installed backend, two unless the entry says
otherwise; all first processes run before the second ones, and the spreads of both are joined.
A finished entry replaces its rows in `OUT/speed.csv`; tables and plots are written at the end.
`agreement.py` compares two such files.
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

HERE = pathlib.Path(__file__).parent
ENTRIES = (
    "import_time",
    "training_step",
    "convolution_step",
    "members_at_once",
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


def main() -> None:
    """Runs the program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer rounds")
    parser.add_argument("--only", default=",".join(ENTRIES), help="entries separated by commas")
    parser.add_argument("--backends", default="tensorflow,jax,torch")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("csdl_runs/speed"))
    parser.add_argument("--entry", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.entry:
        run_entry(arguments.entry, arguments.quick)
        return
    sys.path.append(str(HERE.parent))
    import figures
    from results_table import ResultsTable

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    results = ResultsTable(arguments.out, "speed", FIELDS)
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
                results.write([*others, *rows])
                print(table(rows) if rows else f"{name} on {backend} failed")
                print(f"{name} on {backend} took {time.perf_counter() - start:.0f} s", flush=True)
    failed = [which for which, done in runs.items() if not all(done)]
    found = sorted(results.rows(), key=lambda row: ENTRIES.index(row["entry"]))
    results.report(table(found))
    figures.draw(found, arguments.out)
    if failed:
        sys.exit(f"Failed: {failed}")


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
    command = [sys.executable, __file__, "--entry", name, *(["--quick"] if quick else [])]
    environment = {**os.environ, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        return []
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return [{"entry": name, "backend": backend, **json.loads(line)} for line in lines]


if __name__ == "__main__":
    main()
