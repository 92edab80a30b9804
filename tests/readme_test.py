"""README is one page; its example prints what it shows, and its figures are the current code's."""

import contextlib
import csv
import io
import json
import re
import shlex
import statistics

import keras
import pytest

from csdl_keras.experiments.code_version import changed_parts
from csdl_keras.training.algorithms import ALGORITHMS
from tests.support.fresh_process import REPOSITORY

README = (REPOSITORY / "README.md").read_text()
RESULTS = REPOSITORY / "notebooks" / "results"

#: The folders with README's figures: of its picture, and of its table.
FIVE, COMPARE = RESULTS / "five", RESULTS / "compare"


def record_of(folder):
    return json.loads((folder / "run.json").read_text())


def results_of(folder):
    with (folder / "results.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def block(language):
    """The first code block of a language."""
    return re.search(rf"```{language}\n(.*?)```", README, flags=re.DOTALL).group(1)


def test_one_page():
    assert len(README.splitlines()) <= 200


def test_two_commands():
    """CI runs the lines that begin so."""
    assert README.count("\npip install") == 2


def test_links():
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", README)
    local = [it for it in targets if not it.startswith("https://")]
    assert len(local) > 15
    assert [it for it in local if not (REPOSITORY / it).exists()] == []


@pytest.fixture(scope="module")
def printed():
    """What README's example prints."""
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(block("python"), "README.md", "exec"), {})
    return output.getvalue()


def costs_of(report):
    """The first table of a printed report: the average cost and its interval by name."""
    rows = [re.split("  +", line) for line in report.split("\n\n")[0].splitlines()[1:]]
    return {
        name: (float(cost), *map(float, interval.split(" to ")))
        for name, cost, interval, *_ in rows
    }


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="README shows TensorFlow's")
def test_the_example_prints_what_is_shown(printed):
    """Machines round differently, so that a few of the 540 decisions may be others."""
    found, shown = costs_of(printed), costs_of(block("text"))
    assert list(found) == list(shown)
    for name, (cost, *_) in shown.items():
        assert found[name][1] <= cost <= found[name][2]
    assert re.sub(r"[\d.,]+", "0", printed.splitlines()[-1]) == re.sub(
        r"[\d.,]+", "0", block("text").splitlines()[-1]
    )


def test_the_example_wins(printed):
    """Training with costs in mind certainly costs less than today's rule, the network's argmax."""
    costs = costs_of(printed)
    assert min(costs, key=costs.get) == "csdl.train"
    assert re.match(
        r"csdl.train, .* costs .* less per decision than today's rule", printed.splitlines()[-1]
    )


@pytest.mark.parametrize("folder", [FIVE, COMPARE], ids=lambda folder: folder.name)
def test_results_are_of_the_current_code(folder):
    record = record_of(folder)
    place = folder.relative_to(REPOSITORY)
    assert changed_parts(record.get("code")) == [], (
        f"{place} is out of date: this code has changed since. Run again, on an idle machine: "
        f"rm -r {place} && {record['command']}"
    )


@pytest.mark.parametrize("folder", [FIVE, COMPARE], ids=lambda folder: folder.name)
def test_the_command_is_named(folder):
    program, *arguments = shlex.split(record_of(folder)["command"])
    place = str(folder.relative_to(REPOSITORY))
    assert program == "csdl-keras" and arguments[-2:] == ["--out", place]
    assert f"`{shlex.join([program, *arguments[:-2]])}`" in README


def test_the_picture_is_of_five_classifiers():
    place = FIVE.relative_to(REPOSITORY)
    assert f"]({place}/costs.png)" in README and (FIVE / "costs.png").stat().st_size > 10_000
    assert len({row["algorithm"] for row in results_of(FIVE)}) == 5


def table(folder):
    """README's rows of a comparison, the lowest cost first."""
    rows = results_of(folder)
    means = {}
    for name in dict.fromkeys(row["algorithm"] for row in rows):
        own = [row for row in rows if row["algorithm"] == name]
        costs, errors, seconds = (
            [float(row[column]) for row in own]
            for column in ("average_cost", "error_rate", "train_seconds")
        )
        cost = statistics.mean(costs)
        line = (
            f"| `{name}` | {ALGORITHMS[name].title} | {cost:.3f} ({min(costs):.3f}–"
            f"{max(costs):.3f}) | {statistics.mean(errors):.1%} | {statistics.mean(seconds):.0f} |"
        )
        means[line] = cost
    return "\n".join(sorted(means, key=means.get))


def test_the_table_is_the_committed_results():
    assert table(COMPARE) in README, f"README should have:\n{table(COMPARE)}"
