"""Reports on a folder: one page, Markdown and LaTeX, made from the same tables and texts."""

import base64
import collections
import dataclasses
import importlib.resources
import pathlib
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import pandas

from csdl_keras._utils.files import replace_file
from csdl_keras.paper import notes
from csdl_keras.paper.beta_curve import BetaCurve, read_beta_curves
from csdl_keras.paper.claims import Claim, claims
from csdl_keras.paper.figures import costs_png, curves_png
from csdl_keras.paper.results import read_runs, read_table, words
from csdl_keras.paper.table2 import Column, groups, panels, read_columns, row_title
from csdl_keras_cli.optional import optional_module
from csdl_keras_cli.writable import check_writable

TITLE = "Average test costs, compared with the paper's Table 2"


class Figure(NamedTuple):
    """The path of a figure next to the report, and how to draw it."""

    path: str
    draw: Callable[[], bytes]


#: A paragraph, a table, claims whose details are folded, items of a list, or a figure.
Block: TypeAlias = str | pandas.DataFrame | tuple[Claim, ...] | list[str] | Figure


@dataclasses.dataclass(frozen=True)
class Contents:
    """The parts of a folder of results that the report shows."""

    columns: list[Column]
    curves: list[BetaCurve]
    claims: list[Claim]
    runs: list[dict[str, Any]]
    searches: pandas.DataFrame
    doubled: tuple[pandas.DataFrame, dict[str, tuple[str, str]]] | None


def read_contents(folder: pathlib.Path) -> Contents:
    """Reads a folder of results."""
    columns = read_columns(folder, read_table(folder, "results.csv"))
    curves = read_beta_curves(folder)
    doubled = notes.read_doubled(folder)
    found = claims(columns, curves)
    changed = doubled[1] if doubled else {}
    found = [dataclasses.replace(it, twice_the_epochs=changed.get(it.statement)) for it in found]
    tried = notes.searches_table(folder)
    return Contents(columns, curves, found, read_runs(folder), tried, doubled)


def report(folder: pathlib.Path, out: pathlib.Path) -> list[pathlib.Path]:
    """Writes the report on a folder into `out`, and returns the paths of its files."""
    contents = read_contents(folder)
    check_writable("--out", out / "figures")
    files = {
        "report.html": render_page(contents).encode(),
        "table2.md": render_markdown(contents).encode(),
        "table2.tex": render_latex(contents).encode(),
    }
    for blocks in sections(contents).values():
        files |= {it.path: it.draw() for it in blocks if isinstance(it, Figure)}
    for name, content in files.items():
        replace_file(out / name, content)
    return [out / name for name in files]


def sections(contents: Contents) -> dict[str, list[Block]]:
    """Returns the content of the report by heading."""
    columns, runs, told = contents.columns, contents.runs, words()
    text = told["verdicts"].format_map(collections.Counter(it.verdict for it in contents.claims))
    verdicts = [text, tuple(contents.claims), notes.missing_lines(columns, runs), told["rule"]]
    made: dict[str, list[Block]] = {"Verdicts": verdicts}
    made |= {heading: [_panel(own)] for heading, own in panels(columns).items()}
    # The notes follow the last table.
    made[list(made)[-1]].append(notes.table_notes(columns))
    figure = Figure("figures/costs.png", lambda: costs_png(columns))
    made["Distance from the best"] = [told["distance"], figure]
    made["Relative to a constant decision"] = [told["saved"], notes.savings_table(columns)]
    if contents.curves:
        places = [f"{it.title} at {it.collapsed}" for it in contents.curves if it.collapsed]
        text = told["curves"].format(collapsed="; ".join(places) or "none")
        figure = Figure("figures/beta_curve.png", lambda: curves_png(contents.curves))
        made["Cost by β"] = [text, figure]
    made["Data"] = [notes.data_table(columns, runs)]
    if len(contents.searches):
        made["What was tried"] = [told["searched"], contents.searches]
    if contents.doubled:
        table, changed = contents.doubled
        changes = [f"{it}: from {old} to {new}" for it, (old, new) in changed.items()]
        text = told["doubled"].format(changed="; ".join(changes) or "none")
        made["Twice the epochs"] = [text, table]
    made["What made these figures"] = [notes.runs_table(runs)]
    return made


def render_page(contents: Contents) -> str:
    """Renders a folder of results as one HTML page that needs no other file."""
    jinja2 = optional_module("jinja2", "compare")
    template = importlib.resources.files(__package__).joinpath("page.html").read_text("utf-8")
    return jinja2.Template(template, autoescape=True).render(
        title=TITLE,
        sections=sections(contents),
        kind=lambda block: type(block).__name__,
        table=lambda it: _bold(it.to_html(index=False, border=0), "&lt;{}b&gt;", "<b>", "</b>"),
        encoded=lambda content: base64.b64encode(content).decode(),
    )


def render_markdown(contents: Contents) -> str:
    """Renders tables, claims, notes and runs in GitHub's Markdown."""
    parts = [f"# {TITLE}"]
    for heading, blocks in sections(contents).items():
        parts.append(f"## {heading}")
        for block in blocks:
            match block:
                case str():
                    parts.append(escape_markdown(block))
                case list():
                    parts.append("\n".join(f"- {escape_markdown(it)}" for it in block))
                case Figure():
                    parts.append(f"![{heading}]({block.path})")
                case tuple():
                    table = pandas.DataFrame([claim.row for claim in block])
                    parts.append(_markdown_table(table.iloc[:, :4]))
                    for claim in block:
                        facts = [f"{name}: {it}" for name, it in claim.row.items()]
                        summary, *facts = map(escape_markdown, [claim.statement, *facts[4:]])
                        parts += [f"<details><summary>{summary}</summary>", "\n\n".join(facts)]
                        parts += [_markdown_table(claim.table), "</details>"]
                case _:
                    parts.append(_markdown_table(block))
    return "\n\n".join(parts) + "\n"


def render_latex(contents: Contents) -> str:
    """Renders one tabular for balanced and one for imbalanced data, to be read by `\\input`."""
    parts = [
        "% Needs \\usepackage{booktabs} and LaTeX of 2020 or later. Ours, and in parentheses the\n"
        "% paper's: mean and standard error over n cost matrices; bold: the lowest mean, and\n"
        "% means not significantly above it."
    ]
    for columns in panels(contents.columns).values():
        layout = "ll" + "r" * len(columns)
        table = _panel(columns).to_latex(index=False, escape=True, column_format=layout)
        table = _bold(table, "<{}b>", r"\textbf{", "}")
        parts.append(
            f"\\begingroup\\footnotesize\\setlength{{\\tabcolsep}}{{3pt}}\n{table}\\endgroup"
        )
    return "\n\n".join(parts) + "\n"


def _panel(columns: Sequence[Column]) -> pandas.DataFrame:
    rows = [
        {
            "series": series if algorithm is members[0] else "",
            "algorithm": row_title(algorithm),
            **{f"{it.heading} (n = {it.runs})": _cell(it, algorithm.name) for it in columns},
        }
        for series, members in groups(columns).items()
        for algorithm in members
    ]
    return pandas.DataFrame(rows)


def _cell(column: Column, name: str) -> str:
    """Returns our figure and the paper's; text between `<b>` and `</b>` is shown in bold."""
    cell, paper, text = column.cell(name), column.paper(name), column.text(name)
    text = f"<b>{text}</b>" if cell is not None and cell["tied"] else text
    if paper is None:
        return text
    theirs = f"{paper['cost']} ± {paper['standard_error']}"
    return f"{text} (<b>{theirs}</b>)" if paper["bold"] else f"{text} ({theirs})"


def _bold(text: str, mark: str, begin: str, end: str) -> str:
    """Replaces the escaped marks of bold text by those of a format."""
    return text.replace(mark.format(""), begin).replace(mark.format("/"), end)


def _markdown_table(frame: pandas.DataFrame) -> str:
    """Returns a table without the spaces with which `to_markdown` aligns columns."""
    shown = frame.map(lambda it: _bold(escape_markdown(it), "&#60;{}b&#62;", "**", "**"))
    shown = shown.rename(columns=escape_markdown)
    numbers = re.compile(r"(\*\*)?[−+–\d].{,40}$|$")
    rules = ["---:" if all(map(numbers.match, shown[name])) else "---" for name in shown]
    lines = [list(shown), rules, *shown.to_numpy().tolist()] if len(rules) else []
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escape_markdown(text: str) -> str:
    """Escapes text for a line or a table cell of Markdown, so that it is shown unchanged."""
    # Underscores within words and brackets without a link are harmless.
    marks = r"[\\`*<>&|~#$!@]|\](?=[\[(:])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//)|(?<=www)\."
    return re.sub(marks, lambda found: f"&#{ord(found[0])};", re.sub(r"\s+", " ", text))
