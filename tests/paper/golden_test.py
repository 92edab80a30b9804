"""Reports on committed folders, Table 1 and keys of cells are those of version 0.2.0."""

import json
import math
import pathlib

import pandas
import pytest

from csdl_keras.paper.cells import Cell, DataSource
from csdl_keras.paper.profiles import PROFILES
from csdl_keras.training.algorithms import get_algorithm
from csdl_keras_cli.table1 import table1
from tests.paper.golden_contents import contents

ROOT = pathlib.Path(__file__).parents[2]
RESULTS = ROOT / "notebooks" / "results"
GOLDEN = ROOT / "tests" / "data" / "golden" / "paper"


def differences(found, expected, place=""):
    """The places at which two nested values differ by more than rounding."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in {*expected, *found}:
            yield from differences(found.get(name), expected.get(name), f"{place}/{name}")
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield f"{place}: {len(found)} in place of {len(expected)}"
        for index, pair in enumerate(zip(found, expected, strict=False)):
            yield from differences(*pair, f"{place}/{index}")
    elif isinstance(expected, float) and not isinstance(found, (str, type(None))):
        if not math.isclose(found, expected, rel_tol=1e-6, abs_tol=1e-9):
            yield f"{place}: {found} in place of {expected}"
    elif found != expected:
        yield f"{place}: {found!r} in place of {expected!r}"


# All but the smallest folder take 40 to 80 s.
LARGE = [pytest.param(name, marks=pytest.mark.slow) for name in ("paper", "fair", "small")]


@pytest.mark.parametrize("name", ["authors", *LARGE])
def test_reports_say_what_they_said(name):
    expected = json.loads((GOLDEN / f"{name}.json").read_text())
    found = json.loads(json.dumps(contents(RESULTS / name)))
    assert not list(differences(found, expected))


def test_table1():
    assert table1() + "\n" == (GOLDEN / "table1.txt").read_text()


def test_every_row_of_the_papers_run_is_the_cell_that_it_was():
    """A run goes on from the rows on file, which it knows by their `cell`."""
    rows = pandas.read_csv(RESULTS / "paper" / "results.csv").to_dict("records")
    assert len(rows) == 609
    for row in rows:
        algorithm = get_algorithm(row["algorithm"])
        label = row["dataset"] + "_imb" * row["imbalanced"]
        settings = PROFILES["paper"].settings_on(label)
        chosen = {}
        for name in settings.names(algorithm):
            owner, _, field = name.rpartition(".")
            column = f"{owner}_{field}" if f"{owner}_{field}" in row else field
            if column == "epochs" or pandas.isna(row.get(column)):
                continue  # `epochs` are those that ran
            before = getattr(getattr(settings, owner) if owner else settings, field)
            value = row[column]
            if column == "hidden_units":
                value = tuple(map(int, value.split("-")))
            chosen[name] = value if before is None else type(before)(value)
        source = DataSource(row["dataset"], row["imbalanced"], grayscale=row["grayscale"])
        cell = Cell(source, algorithm, row["cost_seed"], settings.replace(chosen), seed=row["seed"])
        assert cell.key == row["cell"], row
