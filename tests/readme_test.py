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
    assert len(blocks) == 17
    namespace: dict = {}
    for block in blocks:
        # One epoch of few units, and one trial, show that the code runs; more only take longer.
        short = re.sub(r"(epochs|max_trials)=\d+", r"\1=1", block)
        short = re.sub(r"limit_epochs\(\d+\)", "limit_epochs(1)", short)
        short = re.sub(r"\b500\b", "20", short)
        exec(compile(short, "README.md", "exec"), namespace)
    costs = namespace["C"][namespace["data"].y_test, namespace["decisions"]]
    assert f"average test cost {costs.mean()}" in capsys.readouterr().out
    assert np.isfinite(namespace["careful"].predict(namespace["data"].x_test[:2])).all()
    assert (tmp_path / "best.keras").exists()


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def cells(*folders):
    """What README shows of each algorithm of runs: cost, error rate and seconds."""
    rows = [row for folder in folders for row in rows_of(RESULTS / folder / "results.csv")]
    columns = {}
    for name in dict.fromkeys(row["algorithm"] for row in rows):
        own = [row for row in rows if row["algorithm"] == name]
        costs, errors, seconds = (
            [float(row[column]) for row in own]
            for column in ("average_cost", "error_rate", "train_seconds")
        )
        cost, spread = statistics.mean(costs), statistics.stdev(costs) / len(costs) ** 0.5
        texts = f"{100 * statistics.mean(errors):.1f} %", f"{statistics.mean(seconds):.0f}"
        columns[name] = (cost, f"{cost:.3f} ± {spread:.3f}", *texts)
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


def percent(value):
    return f"{100 * value:.0f} %"


def test_words_about_intervals_are_the_committed_results(readme):
    names = ("part", "case", "size", "method", "measure")
    values = {
        tuple(row[name] for name in names): float(row["value"])
        for row in rows_of(ROOT / "benchmarks" / "results" / "coverage" / "coverage.csv")
    }

    def of(part, measure, method="csdl_keras"):
        return {
            key[1:3]: value
            for key, value in values.items()
            if (key[0], key[3], key[4]) == (part, method, measure)
        }

    def nothing_to_find(part, measure):
        """Without pairs of which one is truly cheaper, and one matrix, which says nothing."""
        return [
            value
            for (case, size), value in of(part, measure).items()
            if "against" not in case and (part, size) != ("matrices", "1")
        ]

    text = " ".join(readme.partition("## How far intervals")[2].partition("## ")[0].split())
    report = of("report", "any row")
    of_two, of_many = (report[f"{models} equal models", "1000"] for models in (2, 15))
    assert f"for some row in {percent(of_many)} of" in text
    assert f"among 2 in {percent(of_two)}." in text
    missed = of("verdicts", "of 15 equal rows, a given one is not bold")["equal", "5"]
    assert f"not bold in {percent(missed)} of" in text
    called = of("matrices", "called different")
    single = max(value for (_, size), value in called.items() if size == "1")
    assert f"different in up to {percent(single)}," in text
    comparisons, seen_otherwise = (
        of("results", measure, "both").popitem()[1]
        for measure in ("comparisons", "verdicts seen otherwise")
    )
    decided, bold = (
        [f"{of('results', it, by).popitem()[1]:.0f}" for by in ("joint bootstrap", "csdl_keras")]
        for it in ("decided", "bold")
    )
    both = f"{decided[0]} of {comparisons:.0f} comparisons, this rule {decided[1]};"
    assert f"{both} no verdict" in text
    assert seen_otherwise == 0
    assert f"bootstrap {bold[0]} cells are bold, by this rule {bold[1]}." in text
    widths, students = (of("comparison", "width", it) for it in ("csdl_keras", "Student's t"))
    ratios = [width / students[key] for key, width in widths.items() if "log-normal" in key[0]]
    assert 3.5 <= min(ratios) and max(ratios) < 8.5
    called = of("comparison", "called different")
    skewed = [value for key, value in called.items() if "log-normal" in key[0]]
    assert len(skewed) == 4 and not any(skewed)

    # What docstrings say.
    assert "in at least 93 % of the test sets" in cost_interval.__doc__
    covered = nothing_to_find("interval", "covers")
    assert min(covered) >= 0.93 and len(covered) == 60
    assert "at most 5 % of the test sets" in compare_costs.__doc__
    assert max(nothing_to_find("comparison", "called different")) <= 0.05
    assert f"{percent(of_many)} of simulated" in cost_report.__doc__
    assert "at most 6 % of all cases" in PairedDifferences.__doc__
    assert max(nothing_to_find("matrices", "called different")) < 0.065
    assert not any(nothing_to_find("comparison", "contradicts itself"))


def test_benchmark_tables_are_the_committed_results(readme, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    tables = importlib.import_module("readme_section").tables()
    assert {"peers", "pretraining_map", "coverage"} <= set(tables)
    for table in tables.values():
        assert len(table) >= 3 and "\n".join(table) in readme
