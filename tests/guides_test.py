"""Guides run as they stand, and what they say is what the committed results say."""

import ast
import contextlib
import functools
import importlib
import io
import logging
import pathlib
import re
import tempfile

import keras
import pytest

from csdl_keras.evaluation import compare_costs, cost_interval, cost_report
from csdl_keras.paper.differences import PairedDifferences

ROOT = pathlib.Path(__file__).parent.parent
GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
_CELL = re.compile(r"^```\{code-cell\} python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def cells(path):
    """The code of a guide's cells, without their options."""
    for cell in _CELL.findall(path.read_text()):
        yield re.sub(r"^:\w+:.*\n", "", cell, flags=re.MULTILINE)


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_every_block_of_python_runs_when_the_documentation_is_built(path):
    text = path.read_text()
    assert text.startswith("---\njupytext:\n") and "\nkernelspec:\n" in text.split("---\n")[1]
    fences = re.findall(r"^ *(`{3,}[^`\n]+)", text, re.MULTILINE)
    included = "```{include} ../../benchmarks/results/"
    assert all(
        it in ("```{code-cell} python", "```shell") or it.startswith(included) for it in fences
    )
    for code in cells(path):
        ast.parse(code)


@pytest.mark.slow
@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_guides_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(path.parent)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.setenv("MPLBACKEND", "Agg")
    level = logging.getLogger("tensorflow").level
    namespace, printed = {"__name__": path.stem}, io.StringIO()
    try:
        for number, code in enumerate(cells(path)):
            # Few epochs show that the code runs; more only take longer.
            short = re.sub(r"limit_epochs\(\d+\)", "limit_epochs(1)", code)
            short = re.sub(r"epochs=\d\d", "epochs=2", short)
            with contextlib.redirect_stdout(printed):
                exec(compile(short, f"{path.name}, cell {number}", "exec"), namespace)
    finally:
        logging.getLogger("tensorflow").setLevel(level)
        keras.config.set_dtype_policy("float32")
    # The guide on speed shows tables alone.
    assert bool(printed.getvalue()) == ("print(" in path.read_text())


@functools.cache
def benchmark(name):
    """A module of the folder of benchmarks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        return importlib.import_module(name)


def test_tables_have_rows_and_say_what_made_them():
    tables = benchmark("guide_tables")
    shown = set(re.findall(r"show\((.+?)\)", "".join(path.read_text() for path in GUIDES)))
    names = {name for call in shown for name in re.findall(r'"([^"]+)"', call)}
    assert names <= set(tables.names())
    for name in names:
        text = tables.show(name).data
        lines = [line for line in text.splitlines() if line.startswith("|")]
        assert len(lines) >= 3 and len({line.count(" |") for line in lines}) == 1, name
        assert re.search(r"\*Made by\* `.+20\d\d-\d\d-\d\d\.", text), name


def test_best_figures_are_those_of_the_committed_results():
    """The tables read the files: two figures, computed here from their rows."""
    committed, tables = benchmark("committed"), benchmark("guide_tables")
    peers = [row for row in committed.read("peers") if row["dataset"] == "mnist_5k"]
    costs = [
        float(row["average_cost"]) for row in peers if row["method"] == "csdl_keras ensemble_bayes"
    ]
    assert f"| {sum(costs) / len(costs):.3f} |" in tables.show("peers").data
    seconds = [
        float(row["seconds"])
        for row in committed.read("effort")
        if (row["set"], row["way"]) == ("digits", "quick")
    ]
    assert f", {sum(seconds) / len(seconds):.0f} s |" in tables.show("effort").data


@pytest.mark.slow  # Reads the decisions of the whole Table 2.
def test_words_about_the_papers_claims_are_the_verdicts():
    texts = benchmark("guide_texts")
    claims = {claim.statement: claim for claim in texts.paper_contents().claims}

    def starting(statement):
        return next(claim for name, claim in claims.items() if name.startswith(statement))

    assert starting("algorithms of the SOSR series").verdict == "not supported"
    cheaper, _, costlier = starting("algorithms of the SOSR series").counts
    assert costlier > cheaper == 0
    pretraining = starting("CSDNN costs less than SEAE SOSR")
    assert pretraining.counts == (0, len(pretraining.comparisons), 0)
    ends = [starting(f"some β between 0 and 1 costs less than β = {end}") for end in (0, 1)]
    assert all(each.difference.matrices == 1 for claim in ends for each in claim.comparisons)
    columns = texts.paper_contents().table.columns
    assert {column.best for column in columns} == {"cnn_bayes"}
    words = " ".join(texts.in_words().data.split())
    assert f"in {costlier} of {costlier + 6} comparisons and less in 0." in words


def test_words_about_intervals_are_the_committed_results():
    texts = benchmark("guide_texts")

    def nothing_to_find(part, measure):
        """Without pairs of which one is truly cheaper, and one matrix, which says nothing."""
        return [
            value
            for (case, size), value in texts.coverage(part, measure).items()
            if "against" not in case and (part, size) != ("matrices", "1")
        ]

    words = texts.intervals().data
    of_many = texts.coverage("report", "any row")["15 equal models", "1000"]
    assert re.search(rf"\b{100 * of_many:.0f} % of all reports", " ".join(words.split()))
    assert re.search(r"\b0 verdicts differ", " ".join(words.split()))
    # What docstrings say.
    assert "in at least 93 % of the test sets" in " ".join(cost_interval.__doc__.split())
    covered = nothing_to_find("interval", "covers")
    assert min(covered) >= 0.93 and len(covered) == 60
    assert "at most 5 % of the test sets" in compare_costs.__doc__
    assert max(nothing_to_find("comparison", "called different")) <= 0.05
    assert re.search(rf"\b{100 * of_many:.0f} % of simulated", cost_report.__doc__)
    assert "at most 6 % of all cases" in PairedDifferences.__doc__
    assert max(nothing_to_find("matrices", "called different")) < 0.065
    assert not any(nothing_to_find("comparison", "contradicts itself"))


def test_words_about_heavy_tails_are_the_committed_results():
    held = {"cost": [], "alike": [], "fee": []}
    for row in benchmark("committed").read("tails", "coverage"):
        if (row["method"], row["measure"]) == ("csdl_keras", "holds"):
            held[row["part"]].append(float(row["value"]))
    assert [len(values) for values in held.values()] == [60] * 3
    assert "60 cases each" in " ".join((ROOT / "docs/guides/deciding.md").read_text().split())
    assert "a matrix and heavy-tailed amounts" in " ".join(cost_interval.__doc__.split())
    assert min(held["cost"]) >= 0.93
    # The cases of 10,000 examples have 150 runs, of whose shares .02 is the standard error.
    assert min(held["alike"] + held["fee"]) >= 0.94


def test_terms_are_public_names():
    text = (ROOT / "docs" / "terms.md").read_text()
    names = re.findall(r"\{py:obj\}`[^<]+ <csdl_keras\.([\w.]+)>`", text)
    assert len(names) > 90
    for name in names:
        module, _, attribute = f"csdl_keras.{name}".rpartition(".")
        assert attribute in importlib.import_module(module).__all__, name
