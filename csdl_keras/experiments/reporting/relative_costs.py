"""Costs in units of the lowest of a data set."""

from csdl_keras.experiments.reporting.column import Column
from csdl_keras.experiments.reporting.formats import format_title
from csdl_keras.experiments.reporting.relative_cost import RelativeCost
from csdl_keras.experiments.reporting.table import Table


def relative_costs(column: Column) -> list[RelativeCost]:
    """Divides our costs by our lowest and the paper's by its lowest.

    Args:
        column: a data set.

    Returns:
        A `RelativeCost` for each row of the table. Nothing is divided by a lowest
        cost of 0: ours are NaN then.
    """
    rows = [row for _, members in Table.groups([column]) for row in members]
    cells = [column.cell(row.name) for row in rows]
    lowest = min(cell.cost for cell in column.cells.values())
    paper_lowest = min((float(cell.paper.cost) for cell in cells if cell.paper), default=1.0)
    return [
        RelativeCost(
            format_title(row),
            row.series,
            cell.cost / lowest if lowest else float("nan"),
            float(cell.paper.cost) / paper_lowest if cell.paper else float("nan"),
            cell.bold,
        )
        for row, cell in zip(rows, cells, strict=True)
    ]
