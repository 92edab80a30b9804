"""README is one page; its example prints what it shows, and its figures are the current code's."""

import contextlib
import csv
import io
import json
import re
import shlex
import statistics

import pytest

import csdl_keras
from tests.support.fresh_process import REPOSITORY

README = (REPOSITORY / "README.md").read_text()
#: README's first table.
PATIENTS = REPOSITORY / "notebooks" / "results" / "patients"
#: README's picture and last table.
FIVE = REPOSITORY / "notebooks" / "results" / "five"
PLACE = FIVE.relative_to(REPOSITORY).as_posix()


@pytest.fixture(scope="module")
def record():
    return json.loads((FIVE / "run.json").read_text())["runs"][0]


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


def block(language, number=0):
    """A code block of a language, by default the first."""
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)[number]


def test_one_page():
    assert len(README.splitlines()) <= 150


def costs_of(report):
    """The first table of a printed report: the average cost and its interval by name."""
    rows = [re.split("  +", line) for line in report.split("\n\n")[0].splitlines()[1:]]
    return {
        name: (float(cost), *map(float, interval.split(" to ")))
        for name, cost, interval, *_ in rows
    }


def test_the_example_prints_what_is_shown():
    """Other machines and backends round differently, which changes a few of 1,000 decisions."""
    assert len(block("python").replace("\n\n", "\n").splitlines()) == 6
    with contextlib.redirect_stdout(io.StringIO()) as output:
        # The second block makes the classifier of the first.
        exec(compile(block("python", 1) + block("python"), "README.md", "exec"), {})
    printed, text = output.getvalue(), block("text")
    found, shown = costs_of(printed), costs_of(text)
    assert list(found) == list(shown) and min(found, key=found.get) == list(shown)[0]
    for name, (cost, *_) in shown.items():
        assert found[name][1] <= cost <= found[name][2]
    words = [re.sub(r"[\d.,]+", "0", it.split("\n\n")[-1]).split() for it in (printed, text)]
    assert words[0] == words[1]
    assert max(map(len, printed.splitlines())) <= 100


def test_results_are_of_the_current_version(record):
    assert record["versions"]["csdl_keras"] == csdl_keras.__version__, (
        f"{PLACE} is out of date. Run again: rm -r {PLACE} && {record['command']}"
    )


def test_the_command_and_the_picture_are_shown(record, results):
    program, *arguments = shlex.split(record["command"])
    assert program == "csdl-keras" and arguments[-2:] == ["--out", PLACE]
    assert README.count(f"`{shlex.join([program, *arguments[:-2]])}`") == 1
    assert f"]({PLACE}/costs.png)" in README and len(results) == 10


def test_the_first_table_is_the_committed_results():
    with (PATIENTS / "results.csv").open(newline="") as file:
        costs = {row["algorithm"]: float(row["average_cost"]) for row in csv.DictReader(file)}
    command = json.loads((PATIENTS / "run.json").read_text())["runs"][0]["command"]
    assert command.partition(" --out")[0] in block("shell")
    shown = re.findall(r"^(\S+(?: [a-z]+)?) +(\d\.\d{3})", block("console"), flags=re.MULTILINE)
    assert shown == [(name, f"{costs[name]:.3f}") for name in sorted(costs, key=costs.get)]


def test_the_table_is_the_committed_results(results):
    """The lowest cost comes first; the last column is relative to costs that are not used."""
    blind = statistics.mean(results["cnn_blind"][0])
    networks = [name for name in results if name.startswith(("cnn", "calibrated"))]
    order = sorted(networks, key=lambda name: statistics.mean(results[name][0]))
    rows = re.findall(r"^\| `(\w+)` \| [^|`]+ \| (.+) \|$", README, flags=re.MULTILINE)
    expected = []
    for name in order:
        costs, errors = results[name]
        cost, spread = statistics.mean(costs), statistics.stdev(costs) / len(costs) ** 0.5
        cells = f"{cost:.3f} ± {spread:.3f} | {statistics.mean(errors):.1%} | {cost / blind:.0%}"
        expected.append((name, cells))
    assert rows == expected
