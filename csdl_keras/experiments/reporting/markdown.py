"""The report as Markdown."""

import re
from collections.abc import Iterable

from csdl_keras.experiments.reporting.claim import NOTHING, RULE, Claim
from csdl_keras.experiments.reporting.column import Column
from csdl_keras.experiments.reporting.contents import Contents
from csdl_keras.experiments.reporting.formats import format_column, format_cost, format_title
from csdl_keras.experiments.reporting.notes import notes
from csdl_keras.experiments.reporting.plain_tables import (
    COMPARISON_HEADS,
    DATA_HEADS,
    comparison_line,
    data_line,
)
from csdl_keras.experiments.reporting.run_records import describe_mapping
from csdl_keras.experiments.reporting.table import Table
from csdl_keras.experiments.reporting.visible import visible


def render_markdown(contents: Contents) -> str:
    """Renders tables, claims, notes and what made them, in GitHub's Markdown.

    Args:
        contents: what `read_contents` returned.

    Returns:
        The text of a `.md` file.
    """
    table = contents.table
    parts = ["# Average test cost, beside the paper's Table 2"]
    parts.append("Ours, and in parentheses the paper's.")
    for heading, columns in table.panels:
        parts += [f"## {heading}", _panel(columns)]
    parts.append("\n".join(f"- {_escape(line)}" for line in notes(table)))
    parts += ["## Data", _data(table.columns)]
    parts += ["## What the paper claims, and what these figures say", _claims(contents.claims)]
    parts += [_details(claim) for claim in contents.claims if claim.comparisons]
    parts += ["## What made these figures", _runs(contents)]
    return "\n\n".join(parts) + "\n"


def _panel(columns: list[Column]) -> str:
    lines = []
    for heading, members in Table.groups(columns):
        for index, row in enumerate(members):
            texts = [_cell(column, row.name) for column in columns]
            lines.append([heading if index == 0 else "", format_title(row), *texts])
    heads = [
        f"{_escape(format_column(column, variant=False))} (n = {column.matrices})"
        for column in columns
    ]
    return _table(["series", "algorithm", *heads], lines, left=2)


def _cell(column: Column, name: str) -> str:
    cell = column.cell(name)
    ours = format_cost(cell, column)
    ours = f"**{ours}**" if cell.bold else ours
    if cell.paper is None:
        return ours
    theirs = f"**{cell.paper}**" if cell.paper.bold else str(cell.paper)
    return f"{ours} ({theirs})"


def _data(columns: list[Column]) -> str:
    return _table(
        DATA_HEADS, [[_escape(cell) for cell in data_line(column)] for column in columns], left=1
    )


def _claims(claims: list[Claim]) -> str:
    if not any(claim.comparisons for claim in claims):
        return NOTHING
    lines = [
        [claim.question, claim.statement, f"**{claim.verdict}**", _escape(claim.summary)]
        for claim in claims
    ]
    heads = ["question", "claim", "verdict", "comparisons"]
    return f"{_table(heads, lines, left=4)}\n\nHow verdicts are made: {RULE}"


def _details(claim: Claim) -> str:
    lines = []
    for comparison in claim.comparisons:
        data, *figures = comparison_line(comparison)
        lines.append([_escape(data), *figures])
    table = _table(COMPARISON_HEADS, lines, left=3)
    return (
        f"<details><summary>{claim.statement}: {claim.verdict}</summary>\n\n{table}\n\n</details>"
    )


def _runs(contents: Contents) -> str:
    if not contents.runs:
        return "Not recorded: the folder has no run.json."
    lines = []
    for run in contents.runs:
        command, *others = (
            _escape(describe_mapping(run.get(name)))
            for name in ("command", "date", "versions", "backend", "machine")
        )
        lines.append([f"<code>{command}</code>", *others])
    return _table(["command", "date", "versions", "backend", "machine"], lines, left=5)


def _table(heads: list[str], lines: Iterable[list[str]], left: int) -> str:
    """A table whose first columns are aligned left, the others right; cells are Markdown."""
    rules = ["---"] * left + ["---:"] * (len(heads) - left)
    rows = [heads, rules, *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


# What Markdown may read as markup: emphasis, code, links, images, HTML, formulas, cells; but
# no underscore within a word, which every name of a data set has. Addresses of the web too.
_MARKUP = re.compile(r"[\\`*\[\]<>&|~#$!@]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//)|(?<=www)\.")


def _escape(text: str) -> str:
    """A text that Markdown shows as it is, within a line and a cell.

    References to characters are never markup, in text, HTML and tables alike.
    """
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", visible(text))
