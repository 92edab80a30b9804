"""README's Python runs as it stands, and its figures are those of the committed results."""

import csv
import importlib
import pathlib
import re
import statistics

import keras
import numpy as np
import pytest

from csdl_keras.experiments.reporting.contents import read_contents
from csdl_keras.experiments.reporting.markdown import render_markdown

ROOT = pathlib.Path(__file__).parent.parent
RESULTS = ROOT / "notebooks" / "results"


@pytest.fixture(scope="module")
def readme():
    return (ROOT / "README.md").read_text()


def test_python_blocks_run(readme, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    assert len(blocks) == 10
    namespace: dict = {}
    for block in blocks:
        # One epoch, and one trial, show that the code runs; more only take longer.
        short = re.sub(r"(epochs|max_trials)=\d+", r"\1=1", block)
        exec(compile(short, "README.md", "exec"), namespace)
    costs = namespace["C"][namespace["data"].y_test, namespace["decisions"]]
    assert f"average test cost {costs.mean()}" in capsys.readouterr().out
    assert np.isfinite(namespace["careful"].predict(namespace["data"].x_test[:2])).all()
    assert (tmp_path / "best.keras").exists()


def cells(*folders):
    """What README shows of each algorithm of runs: cost, error rate and seconds."""
    rows = []
    for folder in folders:
        with (RESULTS / folder / "results.csv").open(newline="") as file:
            rows += list(csv.DictReader(file))
    columns = {}
    for name in dict.fromkeys(row["algorithm"] for row in rows):
        own = [row for row in rows if row["algorithm"] == name]
        costs = [float(row["average_cost"]) for row in own]
        error = statistics.mean(float(row["error_rate"]) for row in own)
        seconds = statistics.mean(float(row["train_seconds"]) for row in own)
        spread = statistics.stdev(costs) / len(costs) ** 0.5
        cost = statistics.mean(costs)
        columns[name] = (
            cost,
            f"{cost:.3f} ± {spread:.3f}",
            f"{100 * error:.1f} %",
            f"{seconds:.0f}",
        )
    order = sorted(columns, key=lambda name: columns[name][0])
    texts = {name: columns[name][1:] for name in order}
    texts[order[0]] = (f"**{texts[order[0]][0]}**", *texts[order[0]][1:])
    return texts


def test_measured_table_is_the_committed_results(readme):
    default, five = cells("mnist_5k_default"), cells("mnist_5k", "mnist_5k_lowest")
    table = [
        "| " + " | ".join([f"`{name}`", *default[name], five[name][0]]) + " |" for name in default
    ]
    assert "\n".join(table) in readme


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="the same on each backend")
def test_table2_is_the_committed_results(readme):
    report = render_markdown(read_contents(RESULTS / "small"))
    sections = re.findall(r"^## (.+?)\n(.+?)(?=^## |\Z)", report, re.MULTILINE | re.DOTALL)
    shown = ("Balanced data", "Imbalanced data", "What the paper claims")
    tables = [text.split("<details>")[0] for name, text in sections if name.startswith(shown)]
    assert len(tables) == 3
    for text in tables:
        lines = [line for line in text.splitlines() if line.startswith("|")]
        assert len(lines) > 10 and "\n".join(lines) in readme


def test_benchmark_tables_are_the_committed_results(readme, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    tables = importlib.import_module("readme_section").tables()
    assert {"peers", "pretraining_map"} <= set(tables)
    for table in tables.values():
        assert len(table) >= 3 and "\n".join(table) in readme
