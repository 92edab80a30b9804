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

import csdl_keras
from tests.support.fresh_process import REPOSITORY

README = (REPOSITORY / "README.md").read_text()
#: README's picture and table.
FIVE = REPOSITORY / "notebooks" / "results" / "five"
PLACE = FIVE.relative_to(REPOSITORY).as_posix()


@pytest.fixture(scope="module")
def record():
    return json.loads((FIVE / "run.json").read_text())


@pytest.fixture(scope="module")
def results():
    """Costs and errors of each algorithm for each matrix."""
    with (FIVE / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = {row["algorithm"]: ([], []) for row in rows}
    for row in rows:
        for values, column in zip(
            found[row["algorithm"]], ("average_cost", "error_rate"), strict=True
        ):
            values.append(float(row[column]))
    return found


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


def test_results_are_of_the_current_version(record):
    assert record["versions"]["csdl_keras"] == csdl_keras.__version__, (
        f"{PLACE} is out of date. Run again: rm -r {PLACE} && {record['command']}"
    )


def test_the_command_is_named(record):
    program, *arguments = shlex.split(record["command"])
    assert program == "csdl-keras" and arguments[-2:] == ["--out", PLACE]
    assert README.count(f"`{shlex.join([program, *arguments[:-2]])}`") == 1


def test_the_picture_is_of_five_classifiers(results):
    assert f"]({PLACE}/costs.png)" in README and (FIVE / "costs.png").stat().st_size > 10_000
    assert len(results) == 5


def test_the_table_is_the_committed_results(results):
    """The lowest cost comes first; the last column is relative to costs that are not used."""
    blind = statistics.mean(results["cnn_blind"][0])
    order = sorted(results, key=lambda name: statistics.mean(results[name][0]))
    rows = re.findall(r"^\| `(\w+)` \| [^|`]+ \| (.+) \|$", README, flags=re.MULTILINE)
    expected = []
    for name in order:
        costs, errors = results[name]
        cost, spread = statistics.mean(costs), statistics.stdev(costs) / len(costs) ** 0.5
        cells = f"{cost:.3f} ± {spread:.3f} | {statistics.mean(errors):.1%} | {cost / blind:.0%}"
        expected.append((name, cells))
    assert rows == expected
