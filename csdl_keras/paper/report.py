"""The report on a folder of results: one page, Markdown and LaTeX, made of the same sections."""

import base64
import dataclasses
import html
import importlib.resources
import math
import pathlib
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pandas

from csdl_keras._utils.files import check_writable, replace_file
from csdl_keras._utils.optional import optional_module
from csdl_keras.evaluation._report_text import interval, number
from csdl_keras.paper import notes
from csdl_keras.paper.beta_curve import BetaCurve, read_beta_curves
from csdl_keras.paper.claims import CLAIM_HEADS, COMPARISON_HEADS, Claim, claims
from csdl_keras.paper.figures import costs_png, curves_png
from csdl_keras.paper.results import read_results, read_runs, words
from csdl_keras.paper.searches import (
    DOUBLED_HEADS,
    SEARCH_HEADS,
    Doubled,
    read_searches,
    search_lines,
    searched,
)
from csdl_keras.paper.table2 import Column, groups, panels, read_columns
from csdl_keras.training.algorithms import get_algorithm

TITLE = "Average test cost, beside the paper's Table 2"
_SAVING_HEADS = ["data set", "algorithm", "cost", "constant decision", "saved", "95 % interval"]
_SAVING_HEADS += ["against the best"]
#: The entries of a run's record that the report shows, after its command.
_RUN_HEADS = ["date", "versions", "commit", "backend", "machine"]


class Bold(str):
    """A text that each format shows in bold."""


class Code(str):
    """A text that the page and Markdown show as code."""


@dataclasses.dataclass(frozen=True)
class Section:
    """A part of the report: paragraphs, tables by headings that fold them, a PNG file, a list."""

    heading: str
    texts: Sequence[str] = ()
    tables: Mapping[str, pandas.DataFrame] = dataclasses.field(default_factory=dict)
    figure: bytes = b""
    items: Sequence[str] = ()


@dataclasses.dataclass(frozen=True)
class Contents:
    """The contents of a folder of results."""

    columns: list[Column]
    curves: list[BetaCurve]
    claims: list[Claim]
    runs: list[dict[str, Any]]
    searches: pandas.DataFrame
    doubled: Doubled | None


def read_contents(folder: pathlib.Path) -> Contents:
    """Reads a folder of results, with `results.csv` at least.

    Raises:
        ValueError: if files are missing or do not fit together.
    """
    columns, curves = read_columns(folder, read_results(folder)), read_beta_curves(folder)
    doubled = Doubled(folder) if (folder / "doubled.csv").exists() else None
    changed = doubled.changed if doubled else {}
    found = [
        dataclasses.replace(claim, with_twice_the_epochs=changed.get(claim.statement))
        for claim in claims(columns, curves)
    ]
    return Contents(columns, curves, found, read_runs(folder), read_searches(folder), doubled)


def report(
    folder: pathlib.Path,
    out: pathlib.Path,
    step: Callable[[str], AbstractContextManager[None]] = lambda _: nullcontext(),
) -> list[pathlib.Path]:
    """Writes tables, figures and the paper's claims beside our figures.

    It reads `results.csv` and, if they exist, `test_decisions/`, `beta_curve.csv`, `choices.csv`,
    `doubled.csv` and `run.json`; algorithms that have not been run have empty cells. It writes
    `report.html`, which needs no other file, `table2.md`, `table2.tex` (to be read by `\\input`,
    with the package booktabs), `figures/costs.png` and, if there are curves,
    `figures/beta_curve.png`.

    Args:
        folder: folder of results, as `csdl-keras table2` and `csdl-keras compare` write it.
        out: folder for the files that it writes; made if it does not exist.
        step: called with the name of each file; the context in which it is made.

    Returns:
        The paths of the files that were written.
    """
    for name in ("jinja2", "matplotlib"):  # A missing one shows before the work.
        optional_module(name, "compare")
    contents = read_contents(folder)
    check_writable("--out", out / "figures")
    files: dict[str, Callable[[], bytes]] = {
        "report.html": lambda: render_page(contents).encode(),
        "table2.md": lambda: render_markdown(contents).encode(),
        "table2.tex": lambda: render_latex(contents).encode(),
        "figures/costs.png": lambda: costs_png(contents.columns),
    }
    if contents.curves:
        files["figures/beta_curve.png"] = lambda: curves_png(contents.curves)
    paths = []
    for name, make in files.items():
        with step(name):
            replace_file(out / name, make())
            paths.append(out / name)
    return paths


def sections(contents: Contents, figures: bool = False) -> list[Section]:
    """Returns the sections of the report, with their figures if asked for."""
    columns, runs, told = contents.columns, contents.runs, words()
    stated = [claim for claim in contents.claims if claim.comparisons]
    lines = [
        [statement, Bold(verdict) if claim.comparisons else verdict, *rest]
        for claim in contents.claims
        for statement, verdict, *rest in [claim.line]
    ]
    made = [
        Section(
            "What the paper claims, and what these figures say",
            [f"How verdicts are made: {told['rule']}"] if stated else [told["nothing"]],
            {"": _frame(CLAIM_HEADS, lines)} if stated else {},
        )
    ]
    made += [Section(name, [], {"": _panel(own)}) for name, own in panels(columns)]
    made.append(Section("Notes", items=notes.table_notes(columns)))
    distance = "Each cost divided by the lowest of its data set, the paper's by the paper's lowest."
    if figures:
        made.append(Section("Distance from the best", [distance], figure=costs_png(columns)))
    if savings := saving_lines(columns):
        made.append(
            Section(
                "Relative to a constant decision",
                [told["saved"]],
                {"": _frame(_SAVING_HEADS, savings)},
            )
        )
    if contents.curves:
        collapsed = [notes.collapsed_betas(it) for it in contents.curves if it.collapsed]
        figure = curves_png(contents.curves) if figures else b""
        made.append(Section("Cost by β", [told["curves"], *collapsed], figure=figure))
    data = _frame(notes.DATA_HEADS, notes.data_lines(columns, runs))
    made.append(Section("Data", tables={"": data}))
    tables = {
        f"{claim.statement}: {claim.verdict}": _frame(
            COMPARISON_HEADS, [it.line for it in claim.comparisons]
        )
        for claim in stated
    }
    made.append(Section("Comparisons behind the verdicts", tables=tables))
    if len(contents.searches):
        frame = _frame(SEARCH_HEADS, search_lines(contents.searches))
        made.append(Section("What was tried", [searched(contents.searches)], {"": frame}))
    if contents.doubled:
        frame = _frame(DOUBLED_HEADS, contents.doubled.lines())
        made.append(Section("Twice the epochs", [contents.doubled.verdict], {"": frame}))
    # A command that goes on has several records, of which the last one counts.
    last = {str(run.get("command")): run for run in runs}.values()
    frame = _frame(
        ["command", *_RUN_HEADS],
        [
            [
                Code(notes.mapping(run.get("command"))),
                *(notes.mapping(run.get(it)) for it in _RUN_HEADS),
            ]
            for run in last
        ],
    )
    unknown = ["Not recorded: the folder has no run.json."]
    made.append(
        Section("What made these figures", [] if runs else unknown, {"": frame} if runs else {})
    )
    return made


def render_page(contents: Contents) -> str:
    """Renders a folder of results as one HTML page that needs no other file."""
    jinja2 = optional_module("jinja2", "compare")
    template = importlib.resources.files(__package__).joinpath("page.html").read_text("utf-8")
    return jinja2.Template(template, autoescape=True).render(
        title=TITLE,
        opening=_opening(contents),
        sections=sections(contents, figures=True),
        table=_html_table,
        encoded=lambda content: base64.b64encode(content).decode(),
    )


def _html_table(frame: pandas.DataFrame) -> str:
    return _shown(frame, html.escape, "<b>{}</b>").to_html(index=False, escape=False, border=0)


def render_markdown(contents: Contents) -> str:
    """Renders tables, claims, notes and runs in GitHub's Markdown."""
    parts = [f"# {TITLE}", *map(escape_markdown, _opening(contents))]
    for section in sections(contents):
        if section.figure or section.heading == "Cost by β":
            continue  # Figures stand in files of their own.
        parts += [f"## {section.heading}"] * (section.heading != "Notes")
        tables = []
        for heading, frame in section.tables.items():
            table = _markdown_table(_shown(frame, escape_markdown, "**{}**"))
            if heading:
                summary = f"<details><summary>{escape_markdown(heading)}</summary>"
                table = "\n\n".join([summary, table, "</details>"])
            tables.append(table)
        texts = list(map(escape_markdown, section.texts))
        claimed = section.heading.startswith("What the paper claims") and section.tables
        parts += [*tables, *texts] if claimed else [*texts, *tables]
        if claimed:
            parts.append("Costs below are ours, and in parentheses the paper's.")
        if section.items:
            parts.append("\n".join(f"- {escape_markdown(it)}" for it in section.items))
    return "\n\n".join(parts) + "\n"


def render_latex(contents: Contents) -> str:
    """Renders one tabular for balanced and one for imbalanced data, to be read by `\\input`."""
    parts = [
        "% Needs \\usepackage{booktabs}. Ours, and in parentheses the paper's: mean and standard\n"
        "% error over n cost matrices; bold: the lowest mean, and means not significantly above it."
    ]
    for _, columns in panels(contents.columns):
        shown = _shown(_panel(columns), escape_latex, r"\textbf{{{}}}")
        layout = "ll" + "r" * len(columns)
        table = shown.to_latex(index=False, escape=False, column_format=layout)
        parts.append(
            f"\\begingroup\\footnotesize\\setlength{{\\tabcolsep}}{{3pt}}\n{table}\\endgroup"
        )
    return "\n\n".join(parts) + "\n"


def format_cost(cell: pandas.Series | None, column: Column) -> str:
    """Formats a cell, `None` for an algorithm that was not run: `"0.086 ± 0.007"`.

    A star says that a network collapsed, `" (n = 3)"` that the number of matrices or of training
    seeds is not the column's.
    """
    if cell is None:
        return "–"
    if cell["diverged"]:
        return f"diverged ({cell['diverged']} of {cell['matrices']})"
    text = f"{cell['cost']:.{column.decimals}f}" + "*" * bool(cell["collapsed"])
    if math.isfinite(cell["standard_error"]):
        text += f" ± {cell['standard_error']:.{column.decimals}f}"
    runs = _runs(cell["matrices"], cell["seeds"])
    if cell["results"] < cell["matrices"] * cell["seeds"]:
        runs = f"{cell['results']} runs"
    return text if runs == _runs(column.matrices, column.seeds) else f"{text} (n = {runs})"


def saving_lines(columns: Sequence[Column]) -> list[list[str]]:
    """What algorithms save relative to the best constant decision."""
    return [
        [
            column.heading(),
            get_algorithm(name).title,
            format_cost(cell, column),
            number(cell["constant_cost"])
            + f", always deciding {cell['constant_decision']}" * bool(cell["constant_decision"]),
            number(cell["saved"]),
            interval(cell),
            cell["against_best"] or "–",
        ]
        for column in columns
        for name, cell in column.cells.iterrows()
        if not math.isnan(cell["saved"])
    ]


def _panel(columns: Sequence[Column]) -> pandas.DataFrame:
    """The table of some data sets, a row for each algorithm."""
    heads = [f"{it.heading(variant=False)} (n = {_runs(it.matrices, it.seeds)})" for it in columns]
    lines = [
        [series if algorithm is members[0] else "", notes.row_title(algorithm)]
        + [_cell(column, algorithm.name) for column in columns]
        for series, members in groups(columns)
        for algorithm in members
    ]
    return _frame(["series", "algorithm", *heads], lines)


def _cell(column: Column, name: str) -> list[str]:
    """Our figure and the paper's, parts of one cell."""
    cell, paper = column.cell(name), column.paper(name)
    own = format_cost(cell, column)
    parts = [Bold(own) if cell is not None and cell["bold"] else own]
    if paper is not None:
        text = f"{paper['cost']} ± {paper['standard_error']}"
        parts += [" (", Bold(text) if paper["bold"] else text, ")"]
    return parts


def _runs(matrices: int, seeds: int) -> str:
    """Number of cost matrices, `"3 × 2"` with two training seeds for each."""
    return str(matrices) if seeds == 1 else f"{matrices} × {seeds}"


def _opening(contents: Contents) -> list[str]:
    columns, runs = contents.columns, contents.runs
    return [notes.setting(columns, contents.searches, runs), *notes.missing_lines(columns, runs)]


def _frame(heads: Sequence[str], lines: Sequence[Sequence[Any]]) -> pandas.DataFrame:
    return pandas.DataFrame(list(lines), columns=list(heads), dtype=object)


def _shown(frame: pandas.DataFrame, escape: Callable[[str], str], bold: str) -> pandas.DataFrame:
    """Returns a table with its cells, and parts of cells, as a format has them."""

    def text(value: Any) -> str:
        if isinstance(value, list):
            return "".join(map(text, value))
        if isinstance(value, Code):
            return f"<code>{escape(value)}</code>"
        return bold.format(escape(value)) if isinstance(value, Bold) else escape(value)

    shown = frame.map(text)
    shown.columns = list(map(escape, frame.columns))
    return shown


def _markdown_table(shown: pandas.DataFrame) -> str:
    """Returns a table without the spaces by which `to_markdown` makes columns as wide as cells."""
    numbers = re.compile(r"(\*\*)?[−+–\d].{,40}$|$")
    rules = [
        "---:" if all(map(numbers.match, shown.iloc[:, at])) else "---"
        for at in range(shown.shape[1])
    ]
    lines = [list(shown), rules, *shown.to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escape_markdown(text: str) -> str:
    """Escapes a text for a line or a table cell of Markdown, so that it is shown as it is.

    >>> escape_markdown("a | *b*")
    'a &#124; &#42;b&#42;'
    """
    # Underscores within words and brackets without a link are harmless.
    marks = r"[\\`*<>&|~#$!@]|\](?=[\[(:])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//)|(?<=www)\."
    return re.sub(marks, lambda found: f"&#{ord(found[0])};", re.sub(r"\s+", " ", text))


def escape_latex(text: str) -> str:
    """Escapes a text for LaTeX.

    >>> escape_latex("50 % of {a_b}")
    '50 \\\\% of \\\\{a\\\\_b\\\\}'
    """
    words = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    words |= {"<": r"\textless{}", ">": r"\textgreater{}", "±": r"$\pm$", "×": r"$\times$"}
    words |= {"–": "--", "†": r"$^\dagger$", "‡": r"$^\ddagger$"}
    words |= {mark: f"\\{mark}" for mark in "&%$#_{}"}
    # Not every font has other characters.
    return "".join(words.get(it, it if it.isascii() else "?") for it in text)
