"""What the report says of a folder of results, as numbers and lines that JSON can hold."""

import math
import pathlib

from csdl_keras.experiments.reporting import missing, record_text, text
from csdl_keras.experiments.reporting.render import read_contents


def rounded(value):
    """Numbers as text of ten digits; tables of them, and objects' fields, part by part."""
    if isinstance(value, dict):
        return {str(name): rounded(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(each) for each in value]
    if isinstance(value, (str, bool)) or value is None:
        return value
    number = float(value)
    return str(number) if math.isinf(number) or math.isnan(number) else float(f"{number:.10g}")


def fields(value, names):
    return rounded({name: getattr(value, name) for name in names.split()})


CELL = "matrices seeds results diverged collapsed tried_again cost standard_error "
CELL += "validation_cost beta best tied"
SAVING = "constant_decision constant_cost saved saved_low saved_high"
DIFFERENCE = "mean low high ratio matrices seeds ratio_low ratio_high"


def difference(value):
    return None if value is None else fields(value, DIFFERENCE)


def contents(folder: pathlib.Path) -> dict:
    found = read_contents(folder)
    table = {}
    for column in found.table.columns:
        for name, cell in column.cells.items():
            table[f"{column.dataset} {column.imbalanced} {name}"] = {
                **fields(cell, CELL),
                **fields(cell.saving, SAVING),
                "text": text.format_cost(cell, column),
                "paper": str(cell.paper),
            }
    claims = [
        {
            "statement": claim.statement,
            "verdict": claim.verdict,
            "counts": claim.counts,
            "lines": [text.claim_line(claim), *map(text.comparison_line, claim.comparisons)],
            "differences": [difference(each.difference) for each in claim.comparisons],
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
            **fields(curve, "matrices chosen"),
            "compared": [difference(curve.compare(end)) for end in (0.0, 1.0)],
        }
        for curve in found.curves
    ]
    return {
        "table": table,
        "claims": claims,
        "curves": curves,
        "setting": record_text.setting(found.table, found.searches, found.runs),
        "missing": missing.missing_lines(found.table, found.runs),
        "data": missing.data_lines(found.table, found.runs),
        "savings": text.saving_lines(found.table.columns),
        "searches": list(map(record_text.search_line, found.searches)),
        "doubled": [
            record_text.doubled_verdict(found.doubled),
            *map(record_text.doubled_line, found.doubled.cells),
        ]
        if found.doubled
        else [],
    }
