"""Renders the contents of a results folder as a page, as Markdown and as LaTeX.

The three templates show the same data, whose texts come from `text`. Each template's
environment escapes every value, so that no text of a results folder becomes markup.
"""

import dataclasses
import functools
import pathlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from csdl_keras._utils.optional import optional_module
from csdl_keras.experiments.reporting import missing, record_text, text
from csdl_keras.experiments.reporting.beta_curve import BetaCurve, read_beta_curves
from csdl_keras.experiments.reporting.claim import Claim
from csdl_keras.experiments.reporting.claims import claims
from csdl_keras.experiments.reporting.doubled import Doubled, read_doubled
from csdl_keras.experiments.reporting.escaping import escape_latex, escape_markdown
from csdl_keras.experiments.reporting.figures import costs_svg, curve_svg
from csdl_keras.experiments.reporting.notes import table_notes
from csdl_keras.experiments.reporting.searches import SearchSummary, read_searches
from csdl_keras.experiments.reporting.svg import PALETTE
from csdl_keras.experiments.reporting.table import GROUPS, Table, read_table
from csdl_keras.experiments.run_folder import read_run_records

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclasses.dataclass(frozen=True)
class Contents:
    """The contents of a results folder.

    Args:
        table: Table 2 with our figures.
        curves: costs by beta.
        claims: the paper's claims, compared with our figures.
        runs: the records of its runs, see `read_run_records`.
        searches: what was tried for each algorithm.
        doubled: what twice the epochs change, `None` if that was not tried.
    """

    table: Table
    curves: list[BetaCurve]
    claims: list[Claim]
    runs: list[dict[str, Any]]
    searches: list[SearchSummary]
    doubled: Doubled | None


def read_contents(folder: pathlib.Path) -> Contents:
    """Reads a results folder.

    Args:
        folder: results folder, with `results.csv` at least.

    Returns:
        Its `Contents`.

    Raises:
        ValueError: if files are missing or do not fit together.
    """
    if not folder.is_dir():
        raise ValueError(f"Expected a folder of results; received {folder}, which is not a folder.")
    table, curves, doubled = read_table(folder), read_beta_curves(folder), read_doubled(folder)
    changed = doubled.changed if doubled else {}
    found = [
        dataclasses.replace(claim, with_twice_the_epochs=changed.get(claim.statement))
        for claim in claims(table, curves)
    ]
    return Contents(table, curves, found, read_run_records(folder), read_searches(folder), doubled)


def render_page(contents: Contents) -> str:
    """Renders a results folder as one HTML page that needs no other file."""
    table = contents.table
    present = {row.series for _, rows in table.groups(table.columns) for row in rows}
    return _render(
        _environment(),
        "page.html",
        contents,
        palette=PALETTE,
        legend={series: heading for series, heading in GROUPS.items() if series in present},
        costs=[costs_svg(column, f"costs-{i}") for i, column in enumerate(table.columns)],
        betas=[curve_svg(curve, f"curve-{i}") for i, curve in enumerate(contents.curves)],
    )


def render_markdown(contents: Contents) -> str:
    """Renders tables, claims, notes and runs in GitHub's Markdown."""
    return _render(_environment(escape_markdown), "table2.md", contents)


def render_latex(contents: Contents) -> str:
    """Renders one tabular for balanced and one for imbalanced data, to be read by `\\input`."""
    environment = _environment(
        escape_latex,
        # Braces and percent signs are LaTeX's own.
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
    )
    return _render(environment, "table2.tex", contents)


@functools.cache
def _environment(escape: Callable[[str], str] | None = None, **syntax: str) -> "Environment":
    """The environment of a format; it compiles each template once.

    Args:
        escape: escapes each value for the format; `None` (default) escapes for HTML.
        syntax: delimiters of the templates that differ from Jinja's.
    """
    jinja2 = optional_module("jinja2", "compare")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__),
        undefined=jinja2.StrictUndefined,
        # Jinja escapes for HTML whatever `finalize` has not escaped before.
        autoescape=True,
        finalize=functools.partial(_escaped, escape) if escape else None,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **syntax,
    )
    lines = (text.comparison_line, text.claim_line, record_text.search_line)
    environment.filters |= {each.__name__: each for each in (*lines, record_text.doubled_line)}
    return environment


def _escaped(escape: Callable[[str], str], value: object) -> object:
    """Escapes a value, unless it is the output of a macro, whose values are escaped already."""
    markup = optional_module("markupsafe", "compare").Markup
    return value if isinstance(value, markup) else markup(escape(str(value)))


def _render(environment: "Environment", name: str, contents: Contents, **others: object) -> str:
    return environment.get_template(name).render(
        contents=contents,
        table=contents.table,
        notes=table_notes(contents.table),
        text=text,
        record=record_text,
        missing=missing,
        **others,
    )
