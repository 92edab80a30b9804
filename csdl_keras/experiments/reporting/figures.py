"""The figures of a report as PNG files."""

import io
from typing import Any

import numpy as np

from csdl_keras._utils.optional import optional_module
from csdl_keras.experiments.reporting.beta_curve import BetaCurve
from csdl_keras.experiments.reporting.column import Column
from csdl_keras.experiments.reporting.formats import format_column
from csdl_keras.experiments.reporting.relative_costs import relative_costs
from csdl_keras.experiments.reporting.table import GROUPS, Table

# Okabe and Ito's palette, which colour-blind readers can tell apart.
_COLOURS = {"blind": "#777777", "baseline": "#CC79A7", "Bayes": "#0072B2", "SOSR": "#D55E00"}


def draw_costs(table: Table) -> bytes:
    """Draws all costs relative to the lowest of their data set.

    Args:
        table: the results.

    Returns:
        The bytes of a PNG file.

    Raises:
        ModuleNotFoundError: if matplotlib is missing.
    """
    figure, panels = _panels(len(table.columns), 4.4)
    for axes, column in zip(panels, table.columns, strict=True):
        _draw_column(axes, column)
    lines = optional_module("matplotlib.lines", "compare")
    present = {row.series for _, rows in table.groups(table.columns) for row in rows}
    series = [name for name in GROUPS if name in present]
    handles = [lines.Line2D([], [], marker="o", ls="", color=_COLOURS[name]) for name in series]
    handles.append(lines.Line2D([], [], marker="D", ls="", mfc="none", color="black"))
    labels = [*(GROUPS[name] for name in series), "paper"]
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle("Cost relative to the lowest of the data set (bold: tied with it)")
    return _png(figure)


def draw_beta_curves(curves: list[BetaCurve]) -> bytes:
    """Draws test cost by beta with a band of one standard error.

    Args:
        curves: a curve for each data set, at least one.

    Returns:
        The bytes of a PNG file.

    Raises:
        ModuleNotFoundError: if matplotlib is missing.
    """
    figure, panels = _panels(len(curves), 2.7)
    colour = _COLOURS["SOSR"]
    for axes, curve in zip(panels, curves, strict=True):
        low, high = curve.costs - curve.standard_errors, curve.costs + curve.standard_errors
        axes.fill_between(curve.betas, low, high, color=colour, alpha=0.2, lw=0)
        axes.plot(curve.betas, curve.costs, "o-", color=colour, markersize=4)
        if curve.chosen is not None:
            point = curve.betas[curve.chosen], curve.costs[curve.chosen]
            axes.plot(*point, "o", mfc="none", color="black", markersize=11)
        axes.set_title(curve.title, fontsize=11, parse_math=False)
        axes.set_xlim(-0.05, 1.05)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", ".25", ".5", ".75", "1"])
        axes.grid(alpha=0.3)
    figure.supxlabel("β (0: SDAE SOSR, 1: fully cost-aware; ring: chosen by validation in between)")
    figure.supylabel("average test cost")
    return _png(figure)


def _draw_column(axes: Any, column: Column) -> None:
    rows = relative_costs(column)
    for height, row in enumerate(rows):
        colour = _COLOURS[row.series]
        if np.isfinite(row.ours):
            axes.plot([1, row.ours], [height, height], color=colour, alpha=0.45)
            axes.plot(row.ours, height, "o", color=colour, markersize=6)
        axes.plot(row.paper, height, "D", mfc="none", color="black", markersize=5, mew=0.9)
    axes.set_yticks(range(len(rows)), [row.title for row in rows], fontsize=9)
    for label, row in zip(axes.get_yticklabels(), rows, strict=True):
        label.set_fontweight("bold" if row.bold else "normal")
    axes.invert_yaxis()
    axes.set_xscale("log")
    values = [value for row in rows for value in (row.ours, row.paper) if np.isfinite(value)]
    longest = max([*values, 1.5]) * 1.1
    axes.set_xlim(0.96, longest)
    marks = (1, 2, 5, 10, 30, 100, 300) if longest > 12 else (1, 1.5, 2, 3, 5, 8)
    ticks = [tick for tick in marks if tick < longest]
    axes.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
    axes.minorticks_off()
    axes.grid(axis="x", alpha=0.3)
    # On two lines, since the axes are narrower than the longest title.
    axes.set_title(
        format_column(column).replace(", imbalanced", "\nimbalanced"), fontsize=11, parse_math=False
    )


def _panels(number: int, height: float) -> tuple[Any, list[Any]]:
    """A figure of three panels a row at most, and as many axes as needed."""
    width = min(number, 3)
    depth = -(-number // width)
    figure = optional_module("matplotlib.figure", "compare").Figure(
        figsize=(max(3.6 * width, 6), height * depth + 0.9), layout="constrained"
    )
    axes = figure.subplots(depth, width, squeeze=False).ravel()
    for spare in axes[number:]:
        spare.set_visible(False)
    return figure, list(axes[:number])


def _png(figure: Any) -> bytes:
    optional_module("matplotlib.backends.backend_agg", "compare")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150)
    return buffer.getvalue()
