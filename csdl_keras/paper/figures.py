"""The report's figures, as the contents of PNG files."""

import io
import math
from collections.abc import Sequence

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from csdl_keras.paper.beta_curve import BetaCurve
from csdl_keras.paper.table2 import GROUPS, Column, groups, row_title

#: Okabe and Ito's colours, which colour-blind readers can distinguish.
COLOURS = {
    "blind": "#777777",
    "baseline": "#b8578a",
    "Bayes": "#0072b2",
    "SOSR": "#d55e00",
    "regression": "#009e73",
}


def costs_png(columns: Sequence[Column]) -> bytes:
    """Draws costs relative to the lowest of a data set: ours as discs, the paper's as diamonds."""
    figure, panels = _panels([column.heading for column in columns], 4.4)
    for axes, column in zip(panels, columns, strict=True):
        _draw_costs(axes, column)
    present = {row.series for rows in groups(columns).values() for row in rows}
    handles = [
        Line2D([], [], marker="o", ls="", color=COLOURS[name], label=title)
        for name, title in GROUPS.items()
        if name in present
    ]
    handles.append(Line2D([], [], marker="D", ls="", mfc="none", mec="black", label="paper"))
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle("Cost relative to the lowest of the data set (bold: tied with it)")
    return _png(figure)


def _draw_costs(axes: Axes, column: Column) -> None:
    rows = [row for members in groups([column]).values() for row in members]
    figures = [column.paper(row.name) for row in rows]
    costs = pandas.DataFrame({"ours": column.cells["cost"].reindex([row.name for row in rows])})
    costs["paper"] = [math.nan if it is None else float(it["cost"]) for it in figures]
    # Diverged trainings have infinite costs.
    costs = costs.where(np.isfinite(costs))
    ours, paper = (costs / costs.min()).to_numpy().T
    for height, row in enumerate(rows):
        colour = COLOURS[row.series]
        axes.plot([1, ours[height]], [height] * 2, color=colour, alpha=0.45, clip_on=False)
        axes.plot(ours[height], height, "o", color=colour, clip_on=False)
    axes.plot(paper, range(len(rows)), "D", mfc="none", mec="black", clip_on=False)
    axes.set_yticks(range(len(rows)), list(map(row_title, rows)), fontsize=9)
    for label, row in zip(axes.get_yticklabels(), rows, strict=True):
        label.set_fontweight("bold" if column.cells["tied"].get(row.name) else "normal")
    axes.invert_yaxis()
    axes.set_xscale("log")
    ticks = [1, 2, 4, 8, 16]
    axes.set_xticks(ticks, [f"{it}×" for it in ticks])
    axes.minorticks_off()
    axes.grid(axis="x", color="#d8dde3")


def curves_png(curves: Sequence[BetaCurve]) -> bytes:
    """Draws test cost by beta; a ring marks the one that validation chose inside (0, 1)."""
    figure, panels = _panels([curve.title for curve in curves], 2.9)
    for axes, curve in zip(panels, curves, strict=True):
        low, high = curve.costs - curve.standard_errors, curve.costs + curve.standard_errors
        axes.fill_between(curve.betas, low, high, color=COLOURS["SOSR"], alpha=0.2, lw=0)
        axes.plot(curve.betas, curve.costs, "o-", color=COLOURS["SOSR"])
        if curve.chosen is not None:
            chosen = curve.betas[curve.chosen], curve.costs[curve.chosen]
            axes.plot(*chosen, "o", mfc="none", mec="black", markersize=12)
        axes.set_xlabel("β: share of the cost-aware loss")
        axes.ticklabel_format(axis="y", useOffset=False)
        axes.grid(axis="y", color="#d8dde3")
    figure.suptitle("Average test cost by β (ring: chosen by validation between 0 and 1)")
    return _png(figure)


def _panels(titles: Sequence[str], height: float) -> tuple[Figure, list[Axes]]:
    """Returns a figure with a panel for each title, three in a row, each `height` inches high."""
    width = min(len(titles), 3)
    depth = -(-len(titles) // width)
    figure = Figure(figsize=(max(3.6 * width, 6), height * depth + 0.9), layout="constrained")
    axes = [figure.add_subplot(depth, width, at + 1) for at in range(len(titles))]
    for panel, title in zip(axes, titles, strict=True):
        # The longest title is wider than a panel.
        panel.set_title(title.replace(", imb", "\nimb"), fontsize=11, parse_math=False)
        panel.spines[:].set_visible(False)
        panel.set_axisbelow(True)
    return figure, axes


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150)
    return buffer.getvalue()
