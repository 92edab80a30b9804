"""The report's figures: each is drawn by one function, for the page and for PNG files."""

import contextlib
import io
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from csdl_keras.experiments.reporting.beta_curve import BetaCurve
from csdl_keras.experiments.reporting.column import Column, format_column
from csdl_keras.experiments.reporting.svg import PALETTE, TOOLTIP, inline_svg
from csdl_keras.experiments.reporting.table import GROUPS, RelativeCost, Table, relative_costs
from csdl_keras.experiments.reporting.text import format_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _LINE = PALETTE["ink"].light, PALETTE["line"].light

# Units of the page's figures are pixels on a phone: text has its size at that width.
_WIDTH, _RIGHT, _TOP, _FONT_SIZE = 340, 14, 8, 12.5


def draw_costs(axes: "Axes", rows: Sequence[RelativeCost]) -> None:
    """Draws relative costs on a logarithmic scale: ours as discs, the paper's as diamonds.

    Args:
        axes: the axes to draw on.
        rows: the algorithms, from top to bottom.
    """
    titles = [format_title(row.algorithm) for row in rows]
    for height, (row, title) in enumerate(zip(rows, titles, strict=True)):
        colour = PALETTE[row.algorithm.series].light
        if math.isfinite(row.ours):
            axes.plot([1, row.ours], [height] * 2, color=colour, alpha=0.45, lw=2, clip_on=False)
            gid = f"{TOOLTIP}{title}: {row.ours:.2f}×"
            axes.plot(row.ours, height, "o", color=colour, gid=gid, clip_on=False)
        if math.isfinite(row.paper):
            gid = f"{TOOLTIP}{title}, paper: {row.paper:.2f}×"
            axes.plot(row.paper, height, "D", mfc="none", mec=_INK, gid=gid, clip_on=False)
    axes.set_yticks(range(len(rows)), titles)
    for label, row in zip(axes.get_yticklabels(), rows, strict=True):
        label.set_fontweight("bold" if row.bold else "normal")
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xscale("log")
    values = [value for row in rows for value in (row.ours, row.paper) if math.isfinite(value)]
    longest = max([*values, 1.5]) * 1.1
    axes.set_xlim(longest**-0.04, longest)
    if longest > 1000:
        step = math.ceil(math.log10(longest) / 4)
        marks = [10.0**power for power in range(0, 300, step)]
    elif longest > 12:
        marks = [1, 2, 5, 10, 30, 100, 300]
    else:
        marks = [1, 2, 3, 5, 8] if longest > 6 else [1, 1.5, 2, 3, 5]
    ticks = [mark for mark in marks if mark < longest]
    axes.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
    axes.minorticks_off()
    axes.grid(axis="x", clip_on=False)


def draw_curve(axes: "Axes", curve: BetaCurve) -> None:
    """Draws test cost by beta, with a band of one standard error on both sides.

    Args:
        axes: the axes to draw on.
        curve: the curve; a ring marks the beta that validation chose inside (0, 1).
    """
    colour = PALETTE["SOSR"].light
    low, high = curve.costs - curve.standard_errors, curve.costs + curve.standard_errors
    axes.fill_between(curve.betas, low, high, color=colour, alpha=0.2, lw=0, clip_on=False)
    axes.plot(curve.betas, curve.costs, color=colour, lw=2, clip_on=False)
    for index, text in enumerate(_point_texts(curve)):
        point = curve.betas[index], curve.costs[index]
        if index == curve.chosen:
            size = 2 * axes.lines[0].get_markersize()
            axes.plot(*point, "o", mfc="none", mec=_INK, markersize=size, clip_on=False)
        axes.plot(*point, "o", color=colour, gid=TOOLTIP + text, clip_on=False)
    axes.set_xlim(-0.05, 1.05)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", ".25", ".5", ".75", "1"])
    axes.set_xlabel("β: share of the cost-aware loss")
    axes.ticklabel_format(axis="y", useOffset=False)
    axes.grid(axis="y", clip_on=False)


def _point_texts(curve: BetaCurve) -> list[str]:
    points = zip(curve.betas, curve.costs, curve.standard_errors, strict=True)
    return [f"β = {beta:g}: {cost:.4g} ± {error:.2g}" for beta, cost, error in points]


def costs_svg(column: Column, name: str) -> str:
    """Draws the relative costs of one data set for the page.

    Args:
        column: the data set.
        name: prefix of all ids, unique on the page.

    Returns:
        An SVG element, see `inline_svg`.
    """
    rows = relative_costs(column)
    described = "; ".join(
        f"{format_title(row.algorithm)} {_times(row.ours)}{', bold' if row.bold else ''} "
        f"(paper {_times(row.paper)})"
        for row in rows
    )
    with drawing_style(_FONT_SIZE):
        # In bold, letters of a wide font are 0.62 of their size wide on average.
        longest = max(len(format_title(row.algorithm)) for row in rows)
        left = 10 + 0.62 * _FONT_SIZE * longest
        figure, axes = _page_figure(21 * len(rows), left=left, bottom=24)
        draw_costs(axes, rows)
        title = f"Cost relative to the lowest on {format_column(column)}"
        return inline_svg(figure, name, title, f"{described}.")


def curve_svg(curve: BetaCurve, name: str) -> str:
    """Draws one beta curve for the page.

    Args:
        curve: the curve.
        name: prefix of all ids, unique on the page.

    Returns:
        An SVG element, see `inline_svg`.
    """
    described = "; ".join(_point_texts(curve))
    if curve.chosen is not None:
        described += f". Chosen by validation: β = {curve.betas[curve.chosen]:g}"
    with drawing_style(_FONT_SIZE):
        figure, axes = _page_figure(170, left=56, bottom=50)
        draw_curve(axes, curve)
        return inline_svg(figure, name, f"Test cost by β on {curve.title}", f"{described}.")


def costs_png(table: Table) -> bytes:
    """Draws the relative costs of all data sets, as the content of a PNG file."""
    from matplotlib.lines import Line2D

    with drawing_style(9):
        figure, panels = _panels(len(table.columns), 4.4)
        for axes, column in zip(panels, table.columns, strict=True):
            draw_costs(axes, relative_costs(column))
            # The longest title is wider than the axes, so the variant has a line of its own.
            title = format_column(column).replace(", imbalanced", "\nimbalanced")
            axes.set_title(title, fontsize=11, parse_math=False)
        present = {row.series for _, rows in table.groups(table.columns) for row in rows}
        series = [name for name in GROUPS if name in present]
        handles = [Line2D([], [], marker="o", ls="", color=PALETTE[name].light) for name in series]
        handles.append(Line2D([], [], marker="D", ls="", mfc="none", mec=_INK))
        labels = [*(GROUPS[name] for name in series), "paper"]
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        figure.suptitle("Cost relative to the lowest of the data set (bold: tied with it)")
        return _png(figure)


def curves_png(curves: list[BetaCurve]) -> bytes:
    """Draws all beta curves, at least one, as the content of a PNG file."""
    with drawing_style(9):
        figure, panels = _panels(len(curves), 2.9)
        for axes, curve in zip(panels, curves, strict=True):
            draw_curve(axes, curve)
            axes.set_title(curve.title, fontsize=11, parse_math=False)
        figure.suptitle("Average test cost by β (ring: chosen by validation between 0 and 1)")
        return _png(figure)


@contextlib.contextmanager
def drawing_style(font_size: float) -> Iterator[None]:
    """Matplotlib's default style, whatever the user's is, in the colours of the palette.

    Args:
        font_size: size of the text in points; markers are sized alike.
    """
    from matplotlib import style

    sides = ("left", "right", "top", "bottom")
    choices = {
        "font.size": font_size,
        "lines.markersize": 0.7 * font_size,
        "lines.solid_capstyle": "butt",
        "svg.fonttype": "none",
        "svg.hashsalt": "csdl_keras",  # Without it, ids differ from one drawing to the next.
        "grid.color": _LINE,
        "axes.axisbelow": True,
        **{f"axes.spines.{side}": False for side in sides},
        **{f"{name}.color": _INK for name in ("text", "xtick", "ytick")},
        **{f"axes.{name}color": _INK for name in ("label", "title")},
        **{f"{axis}tick.major.size": 0 for axis in "xy"},
        **{f"{axis}tick.labelsize": "medium" for axis in "xy"},
    }
    with style.context(["default", choices]):
        yield


def _page_figure(height: float, left: float, bottom: float) -> tuple["Figure", "Axes"]:
    """A figure with axes of this height, and margins left of them and below, in pixels."""
    from matplotlib.figure import Figure

    whole = _TOP + height + bottom
    figure = Figure(figsize=(_WIDTH / 72, whole / 72))
    width = _WIDTH - left - _RIGHT
    axes = figure.add_axes((left / _WIDTH, bottom / whole, width / _WIDTH, height / whole))
    return figure, axes


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


def _times(ratio: float) -> str:
    if math.isnan(ratio):
        return "none"
    return "diverged" if math.isinf(ratio) else f"{ratio:.2f}×"
