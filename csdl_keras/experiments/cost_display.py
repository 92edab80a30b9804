"""Shows a cost matrix in the terminal."""

import numpy as np
from rich.table import Table

from csdl_keras.experiments.cost_file import CostTable

#: Most rows that are shown of a cost matrix.
_SHOWN_LABELS = 12


def cost_table(costs: CostTable, title: str, width: int = 80) -> Table:
    """Returns a table of a cost matrix, of a large one the first rows and columns.

    Args:
        costs: the matrix with its names.
        title: heading of the table.
        width: characters of a line; as many columns are shown as fit, at least two.
    """
    rows = [[f"{cost:.6g}" for cost in row] for row in costs.amounts[:_SHOWN_LABELS]]
    labels = costs.labels[:_SHOWN_LABELS]
    columns = list(zip(costs.decisions, *rows, strict=True))
    # A column takes a space on both sides and a line.
    widths = np.cumsum([max(map(len, column)) + 3 for column in columns])
    fitting = widths + max(map(len, (*labels, "true label"))) + 4 <= width
    shown = columns[: max(2, int(fitting.sum()))]
    table = Table(title=title, title_justify="left", caption_justify="left")
    table.add_column("true label")
    for decision, *_ in shown:
        table.add_column(decision, justify="right")
    for label, row in zip(labels, rows, strict=True):
        table.add_row(label, *row[: len(shown)])
    hidden = {"labels": len(costs.labels) - len(labels), "decisions": len(columns) - len(shown)}
    told = [f"{number} more {what}" for what, number in hidden.items() if number]
    table.caption = f"and {' and '.join(told)}" if told else None
    return table
