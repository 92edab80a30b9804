"""What the report says of a folder of results, as numbers and lines that JSON can hold."""

import math
import pathlib

import numpy as np

from csdl_keras.paper import notes
from csdl_keras.paper.report import read_contents


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
CELL += "validation_cost beta best tied"
SAVING = "constant_decision constant_cost saved saved_low saved_high"
DIFFERENCE = "mean low high ratio matrices seeds ratio_low ratio_high"


def difference(value):
    return None if value is None else fields(value, DIFFERENCE)


def lines(table):
    return table.to_numpy().tolist()


def contents(folder: pathlib.Path) -> dict:
    found = read_contents(folder)
    table = {}
    for column in found.columns:
        for name, cell in column.cells.iterrows():
            table[f"{column.dataset} {column.imbalanced} {name}"] = {
                **fields(cell, CELL),
                **fields(cell, SAVING),
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
