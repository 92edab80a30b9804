"""README's Python runs as it stands, and its figures are those of the committed results."""

import csv
import functools
import importlib
import pathlib
import re
import statistics

import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.evaluation import compare_costs, cost_interval, cost_report
from csdl_keras.experiments.reporting.comparison import PairedDifferences
from csdl_keras.experiments.reporting.render import read_contents, render_markdown

ROOT = pathlib.Path(__file__).parent.parent
RESULTS = ROOT / "notebooks" / "results"


@pytest.fixture(scope="module")
def readme():
    return (ROOT / "README.md").read_text()


def test_python_blocks_run(readme, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    small = functools.partial(csdl.datasets.load, train_size=600)
    monkeypatch.setattr(csdl.datasets, "load", small)
    blocks = re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    assert len(blocks) == 11
    namespace: dict = {}
    for block in blocks:
        # One epoch of few units, and one trial, show that the code runs; more only take longer.
        short = re.sub(r"(epochs|max_trials)=\d+", r"\1=1", block)
        short = re.sub(r"\b500\b", "20", short)
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


@pytest.fixture(scope="module")
def small():
    return read_contents(RESULTS / "small")


def test_table2_is_the_committed_results(readme, small):
    report = render_markdown(small)
    sections = re.findall(r"^## (.+?)\n(.+?)(?=^## |\Z)", report, re.MULTILINE | re.DOTALL)
    shown = ("Balanced data", "Imbalanced data", "What the paper claims")
    tables = [text.split("<details>")[0] for name, text in sections if name.startswith(shown)]
    assert len(tables) == 3
    for text in tables:
        lines = [line for line in text.splitlines() if line.startswith("|")]
        assert len(lines) > 10 and "\n".join(lines) in readme


def test_words_about_the_papers_claims_are_the_verdicts(readme, small):
    claims = {claim.statement: claim for claim in small.claims}
    words = " ".join(readme.partition("In words:")[2].partition("## ")[0].split())

    def starting(statement):
        return next(claim for name, claim in claims.items() if name.startswith(statement))

    sosr = starting("algorithms of the SOSR series")
    cheaper, _, costlier = sosr.counts
    assert f"in {costlier} of {len(sosr.comparisons)} comparisons and less in none" in words
    assert cheaper == 0
    pretraining = starting("CSDNN costs less than SEAE SOSR")
    assert pretraining.counts == (0, len(pretraining.comparisons), 0)
    assert f"in all {len(pretraining.comparisons)} comparisons" in words
    assert starting("CSDNN is competitive").counts[0] == 1
    ends = [claim for name, claim in claims.items() if name.startswith("some β")]
    assert [claim.counts[0] for claim in ends] == [1, 5]
    assert all(each.difference.matrices == 1 for claim in ends for each in claim.comparisons)
    assert "beats β = 1 on five sets of six, and β = 0 on one" in words
    columns = small.table.columns
    assert {column.best for column in columns} == {"cnn_bayes"}
    assert sum(column.cell("cnn_sosr").bold for column in columns) == 3


def test_words_about_intervals_are_the_committed_results(readme):
    path = ROOT / "benchmarks" / "results" / "coverage" / "coverage.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    values = {
        tuple(row[name] for name in ("part", "case", "size", "method", "measure")): float(
            row["value"]
        )
        for row in rows
    }
    text = " ".join(readme.partition("## How far intervals")[2].partition("## ")[0].split())
    report = {
        models: values["report", f"{models} equal models", "1000", "csdl_keras", "any row"]
        for models in (2, 15)
    }
    assert f"for some row in {report[15]:.0%} of".replace("%", " %") in text
    assert f"among 2 in {report[2]:.0%}.".replace("%", " %") in text
    missed = values[
        "verdicts", "equal", "5", "csdl_keras", "of 15 equal rows, a given one is not bold"
    ]
    assert f"not bold in {missed:.0%} of".replace("%", " %") in text
    single = max(
        value
        for (part, _, size, method, measure), value in values.items()
        if (part, size, method, measure) == ("matrices", "1", "csdl_keras", "called different")
    )
    assert f"different in up to {single:.0%},".replace("%", " %") in text
    found = {
        (method, measure): round(value)
        for (part, _, _, method, measure), value in values.items()
        if part == "results"
    }
    decided, bold = (
        [found[method, measure] for method in ("joint bootstrap", "csdl_keras")]
        for measure in ("decided", "bold")
    )
    comparisons = found["both", "comparisons"]
    assert f"{decided[0]} of {comparisons} comparisons, this rule {decided[1]}; no verdict" in text
    assert found["both", "verdicts seen otherwise"] == 0
    assert f"bootstrap {bold[0]} cells are bold, by this rule {bold[1]}." in text
    skewed = [key for key in values if key[0] == "comparison" and "log-normal" in key[1]]
    widths = [
        values[key] / values[*key[:3], "Student's t", "width"]
        for key in skewed
        if key[3:] == ("csdl_keras", "width")
    ]
    assert 3.5 <= min(widths) and max(widths) < 8.5
    called = [values[k] for k in skewed if k[3:] == ("csdl_keras", "called different")]
    assert len(called) == 4 and not any(called)

    def of(part, measure):
        return [
            value
            for key, value in values.items()
            if key[0] == part
            and key[3:] == ("csdl_keras", measure)
            # Of these pairs one model is truly cheaper, and of others one matrix says nothing.
            and "against" not in key[1]
            and (part, key[2]) != ("matrices", "1")
        ]

    # What docstrings say.
    assert "in at least 93 % of the test sets" in cost_interval.__doc__
    assert min(of("interval", "covers")) >= 0.93 and len(of("interval", "covers")) == 60
    assert "at most 5 % of the test sets" in compare_costs.__doc__
    assert max(of("comparison", "called different")) <= 0.05
    assert f"{report[15]:.0%} of simulated".replace("%", " %") in cost_report.__doc__
    assert "at most 6 % of all cases" in PairedDifferences.__doc__
    assert max(of("matrices", "called different")) < 0.065
    assert not any(of("comparison", "contradicts itself"))


def test_benchmark_tables_are_the_committed_results(readme, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    tables = importlib.import_module("readme_section").tables()
    assert {"peers", "pretraining_map", "coverage"} <= set(tables)
    for table in tables.values():
        assert len(table) >= 3 and "\n".join(table) in readme
