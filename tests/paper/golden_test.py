"""Reports on committed folders, Table 1 and keys of cells are those of version 0.2.0."""

import json
import math
import pathlib

import numpy as np
import pandas
import pytest

from csdl_keras.paper import notes
from csdl_keras.paper.cells import Cell, DataSource
from csdl_keras.paper.profiles import PROFILES
from csdl_keras.paper.report import read_contents
from csdl_keras.training.algorithms import get_algorithm
from csdl_keras_cli.main import main

ROOT = pathlib.Path(__file__).parents[2]
RESULTS = ROOT / "notebooks" / "results"
GOLDEN = ROOT / "tests" / "data" / "golden" / "paper"


def rounded(value):
    """Numbers as text of ten digits; tables of them, and objects' fields, part by part."""
    if isinstance(value, dict):
        return {str(name): rounded(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(each) for each in value]
    if isinstance(value, (str, bool)) or value is None:
        return value
    if isinstance(value, np.bool):
        return bool(value)
    number = float(value)
    return str(number) if math.isinf(number) or math.isnan(number) else float(f"{number:.10g}")


def fields(value, names):
    return rounded({name: getattr(value, name) for name in names.split()})


def paper(column, name):
    figure = column.paper(name)
    return "None" if figure is None else f"{figure['cost']} ± {figure['standard_error']}"


CELL = "matrices seeds results diverged collapsed tried_again cost standard_error "
CELL += "validation_cost beta best tied constant_decision constant_cost saved saved_low saved_high"
DIFFERENCE = "mean low high ratio matrices seeds ratio_low ratio_high"


def difference(value):
    return None if value is None else fields(value, DIFFERENCE)


def lines(table):
    return table.to_numpy().tolist()


def contents(folder: pathlib.Path) -> dict:
    """What the report says of a folder, as numbers and lines that JSON can hold."""
    found = read_contents(folder)
    table = {}
    for column in found.columns:
        for name, cell in column.cells.iterrows():
            table[f"{column.dataset} {column.imbalanced} {name}"] = {
                **fields(cell, CELL),
                "text": column.text(name),
                "paper": paper(column, name),
            }
    claims = [
        {
            "statement": claim.statement,
            "verdict": claim.verdict,
            "counts": claim.counts,
            "lines": [list(claim.row.values()), *lines(claim.table)],
            "differences": [difference(each) for each in claim.comparisons.itertuples()],
        }
        for claim in found.claims
    ]
    curves = [
        {
            "title": curve.title,
            **{
                name: rounded(list(getattr(curve, name)))
                for name in "betas costs standard_errors validation collapsed".split()
            },
            **fields(curve, "chosen"),
            "matrices": 1.0,  # A curve is of one matrix.
            "compared": [difference(curve.compare(end)) for end in (0.0, 1.0)],
        }
        for curve in found.curves
    ]
    doubled = found.doubled
    return {
        "table": table,
        "claims": claims,
        "curves": curves,
        "missing": notes.missing_lines(found.columns, found.runs),
        "data": lines(notes.data_table(found.columns, found.runs)),
        "savings": lines(notes.savings_table(found.columns)),
        "searches": lines(found.searches),
        "doubled": [doubled[1], *lines(doubled[0])] if doubled else [],
    }


def differences(found, expected, place=""):
    """Places where nested values differ by more than the last step of a search for an interval."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in {*expected, *found}:
            yield from differences(found.get(name), expected.get(name), f"{place}/{name}")
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield f"{place}: {len(found)} in place of {len(expected)}"
        for index, pair in enumerate(zip(found, expected, strict=False)):
            yield from differences(*pair, f"{place}/{index}")
    elif isinstance(expected, float) and not isinstance(found, (str, type(None))):
        if not math.isclose(found, expected, rel_tol=3e-5, abs_tol=1e-9):
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


def test_table1(capsys):
    assert main(["table1"]) == 0
    table, legend = capsys.readouterr().out.split("\n\n", 1)
    assert table + "\n" == (GOLDEN / "table1.txt").read_text()
    assert max(map(len, legend.splitlines())) <= 80


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
