"""Costs divided by the lowest cost of their data set."""

import math
from typing import NamedTuple

from csdl_keras.experiments.reporting.column import Column
from csdl_keras.experiments.reporting.table import Table
from csdl_keras.experiments.reporting.text import format_title


class RelativeCost(NamedTuple):
    """The cost of an algorithm, divided by the lowest cost of its data set.

    Args:
        title: title of the algorithm.
        series: `"blind"`, `"baseline"`, `"Bayes"` or `"SOSR"`.
        ours: our cost divided by our lowest; NaN if the algorithm was not run or
            the lowest cost is 0, infinite if training diverged.
        paper: the paper's cost divided by its lowest, NaN if it has none.
        bold: whether ours is the lowest or tied with it.
    """

    title: str
    series: str
    ours: float
    paper: float
    bold: bool


def relative_costs(column: Column) -> list[RelativeCost]:
    """Divides our costs by our lowest one and the paper's by its lowest one.

    Args:
        column: a data set.

    Returns:
        A `RelativeCost` for each algorithm of the table, in its order.
    """
    rows = [row for _, members in Table.groups([column]) for row in members]
    cells = [column.cell(row.name) for row in rows]
    lowest = min(cell.cost for cell in column.cells.values())
    paper_lowest = min((float(cell.paper.cost) for cell in cells if cell.paper), default=1.0)
    return [
        RelativeCost(
            format_title(row),
            row.series,
            cell.cost / lowest if lowest else math.nan,
            float(cell.paper.cost) / paper_lowest if cell.paper else math.nan,
            cell.bold,
        )
        for row, cell in zip(rows, cells, strict=True)
    ]
