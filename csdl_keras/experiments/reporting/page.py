"""The report as one HTML page."""

import html
import itertools

from csdl_keras.experiments.reporting.claim import NOTHING, RULE, Claim
from csdl_keras.experiments.reporting.contents import Contents
from csdl_keras.experiments.reporting.formats import format_column
from csdl_keras.experiments.reporting.notes import notes
from csdl_keras.experiments.reporting.page_style import STYLE
from csdl_keras.experiments.reporting.page_tables import (
    render_claim,
    render_costs_table,
    render_data_table,
)
from csdl_keras.experiments.reporting.run_records import describe_mapping
from csdl_keras.experiments.reporting.svg import svg_figure
from csdl_keras.experiments.reporting.svg_beta import render_beta_curve
from csdl_keras.experiments.reporting.svg_costs import render_costs
from csdl_keras.experiments.reporting.table import GROUPS, Table

_TITLE = "Average test cost, beside the paper's Table 2"


def render_page(contents: Contents) -> str:
    """Renders everything as one page that needs no other file.

    Args:
        contents: what `read_contents` returned.

    Returns:
        The text of an `.html` file.
    """
    table = contents.table
    sections = {
        ("table", "Table"): _panels(table),
        ("distance", "Distance from the best"): _costs(table),
        ("beta", "Cost by β"): _curves(contents),
        ("claims", "What the paper claims, and what these figures say"): _claims(contents.claims),
        ("data", "Data"): render_data_table(table.columns),
        ("notes", "Notes"): _list(notes(table)),
        ("runs", "What made these figures"): _runs(contents),
    }
    shown = {key: text for key, text in sections.items() if text}
    links = "".join(f'<a href="#{name}">{heading}</a>' for name, heading in shown)
    body = "".join(
        f'<section id="{name}"><h2>{heading}</h2>{text}</section>'
        for (name, heading), text in shown.items()
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_TITLE}</title><style>{STYLE}</style></head>\n"
        "<body><header><h1>Average test cost, beside the paper’s Table 2</h1>"
        "<p>Chung, Lin, Yang: Cost-aware Pre-training for Multiclass Cost-sensitive Deep Learning, "
        f"IJCAI 2016; our figures made with csdl_keras.</p><nav>{links}</nav></header>\n"
        f"<main>{body}</main></body></html>\n"
    )


def _panels(table: Table) -> str:
    introduction = (
        "<p>Mean ± standard error over n cost matrices, and below it the paper’s. Bold on green: "
        "the lowest, and all that are not significantly costlier (see <a href='#notes'>Notes</a>). "
        "Paper: bold as printed there.</p>"
    )
    return introduction + "".join(
        f"<h3>{heading}</h3>{render_costs_table(columns)}" for heading, columns in table.panels
    )


def _costs(table: Table) -> str:
    present = {row.series for _, rows in table.groups(table.columns) for row in rows}
    discs = "".join(
        "<li>"
        + svg_figure(14, 14, heading, [f'<circle cx="7" cy="7" r="5" class="{series}"/>'])
        + f"{html.escape(heading)}</li>"
        for series, heading in GROUPS.items()
        if series in present
    )
    diamond = svg_figure(14, 14, "paper", ['<polygon points="2,7 7,2 12,7 7,12" class="paper"/>'])
    figures = "".join(
        f"<figure><figcaption>{html.escape(format_column(column))}</figcaption>"
        f"{render_costs(column)}</figure>"
        for column in table.columns
    )
    return (
        "<p>Each cost divided by the lowest of its data set, the paper’s by the paper’s lowest; "
        "logarithmic scale. Names in bold: the best, and rows tied with it.</p>"
        f'<ul class="legend">{discs}<li>{diamond}paper</li></ul><div class="grid">{figures}</div>'
    )


def _curves(contents: Contents) -> str:
    if not contents.curves:
        return ""
    figures = "".join(
        f"<figure><figcaption>{html.escape(curve.title)} <small>n = {curve.matrices}</small>"
        f"</figcaption>{render_beta_curve(curve)}</figure>"
        for curve in contents.curves
    )
    return (
        "<p>Test cost of CSDNN by the share β of the cost-aware loss in pre-training; the band is "
        "one standard error over test examples on both sides. The ring marks the β inside (0, 1) "
        "of the lowest validation cost. Scales do not begin at 0. A β that "
        "diverged is left out.</p>"
        f'<div class="grid">{figures}</div>'
    )


def _claims(claims: list[Claim]) -> str:
    if not any(claim.comparisons for claim in claims):
        return f"<p>{NOTHING}</p>"
    parts = [
        f"<p>{html.escape(RULE)} Where a claim is about the best of several algorithms, the one "
        "of the lowest validation cost stands for them.</p>"
    ]
    for question, members in itertools.groupby(claims, key=lambda claim: claim.question):
        parts.append(f"<h3>{html.escape(question)}</h3>")
        parts += [render_claim(claim) for claim in members]
    return "".join(parts)


def _list(lines: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{html.escape(line)}</li>' for line in lines)}</ul>"


def _runs(contents: Contents) -> str:
    if not contents.runs:
        return "<p>Not recorded: the folder has no run.json.</p>"
    return "".join(
        f"<dl><dt>command</dt><dd><code>{html.escape(describe_mapping(run.get('command')))}</code></dd>"
        + "".join(
            f"<dt>{key}</dt><dd>{html.escape(describe_mapping(run.get(key)))}</dd>"
            for key in ("date", "versions", "backend", "machine")
        )
        + "</dl>"
        for run in contents.runs
    )
