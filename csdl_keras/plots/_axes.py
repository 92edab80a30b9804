"""Axes, colours, marks and labels of plots."""

from typing import Any

from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation

from csdl_keras._utils.checks import check_type
from csdl_keras.evaluation._report_text import number

# The palette of Okabe and Ito, which colour-blind readers can distinguish, without its yellow,
# which is too pale for a line. Curves use the colours in this order.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
GREY = "#777777"


def axes_or_new(ax: Axes | None, scale: float = 1.0) -> Axes:
    """Returns `ax`, or if it is `None` the Axes of a new figure, `scale` times the default size."""
    if ax is None:
        figure = Figure(layout="constrained")
        width, height = figure.get_size_inches()
        figure.set_size_inches(scale * width, scale * height)
        return figure.add_subplot()
    return check_type("ax", ax, Axes, "an Axes of Matplotlib or None")


def axes_of_curves(ax: Axes | None) -> tuple[Axes, str]:
    """Returns Axes without the frame's top and right, and the colour that the fewest lines use."""
    axes = axes_or_new(ax)
    axes.spines[["top", "right"]].set_visible(False)
    used = [to_hex(line.get_color()) for line in axes.get_lines()]
    return axes, min(PALETTE, key=used.count)


def mark_lowest(axes: Axes, x: float, cost: float, colour: str, where: str) -> None:
    """Marks a point with a star, labelled in the legend as "lowest", its cost and `where`."""
    label = f"lowest: {number(cost, 3)} {where}"
    style: dict[str, Any] = {"markersize": 15, "markeredgecolor": "white", "markeredgewidth": 0.8}
    # The star stays above curves that are drawn later, and the frame does not clip it.
    axes.plot([x], [cost], "*", color=colour, label=label, zorder=5, clip_on=False, **style)


def label_curves(axes: Axes, x: str, y: str) -> None:
    """Writes the labels of both axes and a legend, below the Axes if the layout makes room."""
    axes.set(xlabel=x, ylabel=y)
    place: dict[str, Any] = {}
    if axes.figure.get_layout_engine() is not None:
        # It goes below the ticks and the label, each a line of text with space around it.
        depth = 4.2 * rcParams["font.size"] / 72.0
        below = axes.transAxes + ScaledTranslation(0.0, -depth, axes.figure.dpi_scale_trans)
        place = {"bbox_to_anchor": (0.0, 0.0), "bbox_transform": below, "borderaxespad": 0.0}
        place["loc"] = "upper left"
    axes.legend(frameon=False, **place)
