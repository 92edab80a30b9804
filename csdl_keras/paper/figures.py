"""The report's figures, as the contents of PNG files."""

import contextlib
import io
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from csdl_keras.paper.beta_curve import BetaCurve
from csdl_keras.paper.table2 import GROUPS, Column, groups, row_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK = "#1b1f24"
#: Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = {
    "blind": "#777777",
    "baseline": "#b8578a",
    "Bayes": "#0072b2",
    "SOSR": "#d55e00",
    "regression": "#009e73",
}


def costs_png(columns: Sequence[Column]) -> bytes:
    """Draws costs relative to the lowest of a data set: ours as discs, the paper's as diamonds."""
    from matplotlib.lines import Line2D

    with _style():
        figure, panels = _panels(len(columns), 4.4)
        for axes, column in zip(panels, columns, strict=True):
            _draw_costs(axes, column)
        present = {row.series for _, rows in groups(columns) for row in rows}
        handles = [
            Line2D([], [], marker="o", ls="", color=COLOURS[name], label=title)
            for name, title in GROUPS.items()
            if name in present
        ]
        handles.append(Line2D([], [], marker="D", ls="", mfc="none", mec=_INK, label="paper"))
        figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
        figure.suptitle("Cost relative to the lowest of the data set (bold: tied with it)")
        return _png(figure)


def _draw_costs(axes: "Axes", column: Column) -> None:
    from matplotlib.ticker import LogLocator

    rows = [row for _, members in groups([column]) for row in members]
    names = [row.name for row in rows]
    ours = column.cells["cost"].reindex(names).to_numpy(float)
    figures = map(column.paper, names)
    paper = np.array([math.nan if it is None else float(it["cost"]) for it in figures])
    with np.errstate(all="ignore"):  # Costs may be 0, infinite or unknown.
        ours, paper = (it / np.nanmin(it) if np.isfinite(it).any() else it for it in (ours, paper))
    for height, row in enumerate(rows):
        colour = COLOURS[row.series]
        if math.isfinite(ours[height]):
            axes.plot([1, ours[height]], [height] * 2, color=colour, alpha=0.45, clip_on=False)
            axes.plot(ours[height], height, "o", color=colour, clip_on=False)
        axes.plot(paper[height], height, "D", mfc="none", mec=_INK, clip_on=False)
    axes.set_yticks(range(len(rows)), list(map(row_title, rows)))
    for label, name in zip(axes.get_yticklabels(), names, strict=True):
        is_bold = name in column.cells.index and column.cells["bold"][name]
        label.set_fontweight("bold" if is_bold else "normal")
    axes.set_ylim(len(rows) - 0.5, -0.5)
    known = np.concatenate([ours, paper])
    longest = max([*known[np.isfinite(known)], 1.5]) * 1.1
    axes.set_xscale("log")
    axes.set_xlim(longest**-0.04, longest)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}×")
    axes.minorticks_off()
    axes.grid(axis="x", clip_on=False)
    # The longest title is wider than the axes, so the variant has a line of its own.
    title = column.heading().replace(", imbalanced", "\nimbalanced")
    axes.set_title(title, fontsize=11, parse_math=False)


def curves_png(curves: Sequence[BetaCurve]) -> bytes:
    """Draws test cost by beta, with a band of one standard error on both sides.

    A ring marks the beta that validation chose inside (0, 1). There is at least one curve.
    """
    with _style():
        figure, panels = _panels(len(curves), 2.9)
        for axes, curve in zip(panels, curves, strict=True):
            low, high = curve.costs - curve.standard_errors, curve.costs + curve.standard_errors
            colour = COLOURS["SOSR"]
            axes.fill_between(curve.betas, low, high, color=colour, alpha=0.2, lw=0, clip_on=False)
            axes.plot(curve.betas, curve.costs, "o-", color=colour, clip_on=False)
            if curve.chosen is not None:
                chosen = curve.betas[curve.chosen], curve.costs[curve.chosen]
                axes.plot(*chosen, "o", mfc="none", mec=_INK, markersize=12, clip_on=False)
            axes.set_xlim(-0.05, 1.05)
            axes.set_xlabel("β: share of the cost-aware loss")
            axes.ticklabel_format(axis="y", useOffset=False)
            axes.grid(axis="y", clip_on=False)
            axes.set_title(curve.title, fontsize=11, parse_math=False)
        figure.suptitle("Average test cost by β (ring: chosen by validation between 0 and 1)")
        return _png(figure)


@contextlib.contextmanager
def _style() -> Iterator[None]:
    """Matplotlib's default style, whatever the user's is, without a box around axes."""
    from matplotlib import style

    choices = {"font.size": 9, "grid.color": "#d8dde3", "axes.axisbelow": True}
    choices |= {f"axes.spines.{side}": False for side in ("left", "right", "top", "bottom")}
    with style.context(["default", choices]):
        yield


def _panels(number: int, height: float) -> tuple["Figure", list["Axes"]]:
    """A figure with up to three panels in a row, each of this height in inches."""
    from matplotlib.figure import Figure

    width = min(number, 3)
    depth = -(-number // width)
    size = max(3.6 * width, 6), height * depth + 0.9
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(depth, width, squeeze=False).ravel()
    for spare in axes[number:]:
        spare.set_visible(False)
    return figure, list(axes[:number])


def _png(figure: "Figure") -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150)
    return buffer.getvalue()
