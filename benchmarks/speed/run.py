"""Measures speed and scale, each figure a ratio taken in one run.

    python benchmarks/speed/run.py                 # everything, under half an hour on 2 cores
    python benchmarks/speed/run.py --quick         # smaller sizes and fewer rounds, minutes
    python benchmarks/speed/run.py --only losses,import_time --backends jax

Each entry runs in a process of its own for each backend that is installed, and is
written to `OUT/speed.csv` and `OUT/speed.md` when it is done.
"""

import argparse
import importlib
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
ENTRIES = (
    "import_time",
    "training_step",
    "losses",
    "pretraining",
    "small_nets",
    "bayes_prediction",
    "grid_overhead",
    "csosr",
    "scaling",
    "pareto",
)
FIELDS = ("entry", "backend", "case", "measure", "value", "low", "high", "goal", "met", "note")


def run_entry(name: str, quick: bool) -> None:
    """Measures one entry on the backend in use; prints rows as JSON."""
    for row in importlib.import_module(name).measure(quick):
        print(json.dumps(row.cells()), flush=True)


def table(rows: list[dict[str, str]]) -> str:
    """Markdown: a table for each entry."""
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
    """Runs the entries."""
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
    from results_table import ResultsTable

    results = ResultsTable(arguments.out, "speed", FIELDS)
    backends = [name for name in arguments.backends.split(",") if importlib.util.find_spec(name)]
    for name in arguments.only.split(","):
        for backend in backends:
            if backend in importlib.import_module(name).BACKENDS:
                command = [sys.executable, __file__, "--entry", name]
                command += ["--quick"] if arguments.quick else []
                environment = {**os.environ, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
                done = subprocess.run(
                    command, env=environment, stdout=subprocess.PIPE, text=True, check=True
                )
                lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
                rows = [{"entry": name, "backend": backend, **json.loads(it)} for it in lines]
                results.append(rows)
                print(table(rows), flush=True)
    results.report(table(results.rows()))


if __name__ == "__main__":
    main()
