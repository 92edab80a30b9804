"""Tables of the HTML report."""

import html
from collections.abc import Iterable

from csdl_keras.experiments.reporting.claim import Claim
from csdl_keras.experiments.reporting.column import Column
from csdl_keras.experiments.reporting.formats import format_column, format_cost, format_title
from csdl_keras.experiments.reporting.plain_tables import (
    COMPARISON_HEADS,
    DATA_HEADS,
    comparison_line,
    data_line,
)
from csdl_keras.experiments.reporting.table import Table


def render_costs_table(columns: list[Column]) -> str:
    """Algorithms by data sets; ours above, the paper's below in each cell.

    Args:
        columns: balanced or imbalanced data sets.

    Returns:
        A table that scrolls sideways below its first column.
    """
    heads = "".join(
        f'<th scope="col">{html.escape(format_column(column, variant=False))}'
        f"<small>n = {column.matrices}</small></th>"
        for column in columns
    )
    bodies = []
    for heading, members in Table.groups(columns):
        rows = [
            f'<tr><th scope="rowgroup" class="group" colspan="{len(columns) + 1}">'
            f"<span>{html.escape(heading)}</span></th></tr>"
        ]
        for row in members:
            cells = "".join(_cell(column, row.name) for column in columns)
            rows.append(f'<tr><th scope="row">{html.escape(format_title(row))}</th>{cells}</tr>')
        bodies.append(f"<tbody>{''.join(rows)}</tbody>")
    return (
        '<div class="scroll" tabindex="0"><table class="costs"><thead><tr>'
        f'<th scope="col">algorithm</th>{heads}</tr></thead>{"".join(bodies)}</table></div>'
    )


def _cell(column: Column, name: str) -> str:
    cell = column.cell(name)
    kind = "best" if cell.bold else ""
    paper = ""
    if cell.paper is not None:
        text = f"<b>{cell.paper}</b>" if cell.paper.bold else str(cell.paper)
        paper = f"<small>paper {text}</small>"
    return f'<td class="{kind}">{format_cost(cell, column)}{paper}</td>'


def render_data_table(columns: Iterable[Column]) -> str:
    """Sizes, matrices and largest costs of the data sets."""
    return _table(DATA_HEADS, [data_line(column) for column in columns], numbers=range(1, 5))


def render_claim(claim: Claim) -> str:
    """A claim with its verdict, and its comparisons to unfold."""
    details = ""
    if claim.comparisons:
        lines = [comparison_line(comparison) for comparison in claim.comparisons]
        count = f"{len(lines)} comparison{'s' if len(lines) > 1 else ''}"
        table = _table(COMPARISON_HEADS, lines, numbers=range(1, 7))
        details = f"<details><summary>{count}</summary>{table}</details>"
    return (
        f'<div class="claim {claim.verdict.replace(" ", "-")}">'
        f"<p>{html.escape(claim.statement[0].upper() + claim.statement[1:])}.</p>"
        f'<p><span class="verdict">{claim.verdict}</span>: {html.escape(claim.summary)}</p>'
        f"{details}</div>"
    )


def _table(heads: list[str], lines: Iterable[list[str]], numbers: Iterable[int]) -> str:
    """A plain table; cells of the columns `numbers` do not wrap."""
    unbroken = set(numbers)
    head = "".join(f'<th scope="col">{html.escape(text)}</th>' for text in heads)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="{"number" if index in unbroken else ""}">{html.escape(text)}</td>'
            for index, text in enumerate(line)
        )
        + "</tr>"
        for line in lines
    )
    return (
        f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
