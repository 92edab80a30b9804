"""The Axes that a plot draws on, and what all plots of curves share."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

# Okabe and Ito's palette, which colour-blind readers can tell apart, without its yellow, which
# is too pale for a line. Their order is that of the legend of several curves.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
GREY = "#777777"


def axes_or_new(ax: Any, scale: float = 1.0) -> Axes:
    """Returns `ax`, or if it is `None` the Axes of a new figure, which pyplot does not know.

    The new figure has `scale` times Matplotlib's own width and height.
    """
    if ax is None:
        figure = Figure(layout="constrained")
        width, height = figure.get_size_inches()
        figure.set_size_inches(scale * width, scale * height)
        return figure.add_subplot()
    if not isinstance(ax, Axes):
        raise ValueError(f"Expected `ax` to be an Axes of Matplotlib or None; received {ax!r}.")
    return ax


def axes_of_curves(ax: Any) -> Axes:
    """As `axes_or_new`, without the frame's top and right sides."""
    axes = axes_or_new(ax)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def next_colour(axes: Axes) -> str:
    """The colour of the palette that the fewest lines of the Axes have."""
    used = [to_hex(line.get_color()) for line in axes.get_lines()]
    return min(PALETTE, key=used.count)


def mark_lowest(axes: Axes, x: float, cost: float, colour: str, words: str) -> None:
    """Marks a point by a star, of which the legend says "lowest", its cost and `words`."""
    axes.plot(
        [x],
        [cost],
        "*",
        color=colour,
        markersize=15,
        markeredgecolor="white",
        markeredgewidth=0.8,
        # Above the lines of curves drawn later, and not cut where it sits on the frame.
        zorder=5,
        clip_on=False,
        label=f"lowest: {number(cost)} {words}",
    )


def number(value: float) -> str:
    """Three significant digits, without an exponent for all but extreme numbers."""
    return f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"
