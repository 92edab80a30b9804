"""The report's figures, as the contents of PNG files."""

import contextlib
import io
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from csdl_keras.paper.beta_curve import BetaCurve
from csdl_keras.paper.notes import row_title
from csdl_keras.paper.table2 import GROUPS, Column, groups, relative_costs
from csdl_keras.training.algorithms import get_algorithm

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _LINE = "#1b1f24", "#d8dde3"
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
            # The longest title is wider than the axes, so the variant has a line of its own.
            title = column.heading().replace(", imbalanced", "\nimbalanced")
            axes.set_title(title, fontsize=11, parse_math=False)
        present = {row.series for _, rows in groups(columns) for row in rows}
        series = [name for name in GROUPS if name in present]
        handles = [Line2D([], [], marker="o", ls="", color=COLOURS[name]) for name in series]
        handles.append(Line2D([], [], marker="D", ls="", mfc="none", mec=_INK))
        labels = [*(GROUPS[name] for name in series), "paper"]
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        figure.suptitle("Cost relative to the lowest of the data set (bold: tied with it)")
        return _png(figure)


def _draw_costs(axes: "Axes", column: Column) -> None:
    rows = relative_costs(column)
    algorithms = list(map(get_algorithm, rows.index))
    for height, algorithm in enumerate(algorithms):
        ours, paper, _ = rows.iloc[height]
        colour = COLOURS[algorithm.series]
        if math.isfinite(ours):
            axes.plot([1, ours], [height] * 2, color=colour, alpha=0.45, lw=2, clip_on=False)
            axes.plot(ours, height, "o", color=colour, clip_on=False)
        if math.isfinite(paper):
            axes.plot(paper, height, "D", mfc="none", mec=_INK, clip_on=False)
    axes.set_yticks(range(len(rows)), list(map(row_title, algorithms)))
    for label, bold in zip(axes.get_yticklabels(), rows["bold"], strict=True):
        label.set_fontweight("bold" if bold else "normal")
    axes.set_ylim(len(rows) - 0.5, -0.5)
    values = rows[["ours", "paper"]].to_numpy(float)
    longest = max([*values[values < math.inf], 1.5]) * 1.1
    axes.set_xscale("log")
    axes.set_xlim(longest**-0.04, longest)
    marks = [1, 1.5, 2, 3, 5] if longest <= 6 else [1, 2, 3, 5, 8] if longest <= 12 else None
    if marks is None:
        step = max(1, math.ceil(math.log10(longest) / 4))
        marks = [10.0**power for power in range(0, 300, step)]
    ticks = [mark for mark in marks if mark < longest]
    axes.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
    axes.minorticks_off()
    axes.grid(axis="x", clip_on=False)


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
            axes.plot(curve.betas, curve.costs, "o-", color=colour, lw=2, clip_on=False)
            if curve.chosen is not None:
                chosen = curve.betas[curve.chosen], curve.costs[curve.chosen]
                axes.plot(*chosen, "o", mfc="none", mec=_INK, markersize=12.6, clip_on=False)
            axes.set_xlim(-0.05, 1.05)
            axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", ".25", ".5", ".75", "1"])
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

    choices = {
        "font.size": 9,
        "lines.markersize": 6.3,
        "lines.solid_capstyle": "butt",
        "grid.color": _LINE,
        "axes.axisbelow": True,
        **{f"axes.spines.{side}": False for side in ("left", "right", "top", "bottom")},
        **{f"{axis}tick.major.size": 0 for axis in "xy"},
        **{f"{axis}tick.labelsize": "medium" for axis in "xy"},
    }
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
