"""The plots of `worth.py`, one for each condition."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter
from worth_comparisons import BASE, NONE, WAYS, compare, costs_of, name_of
from worth_table import TITLES

from csdl_keras.plots._axes import GREY, PALETTE

COLOURS = dict(zip(("argmax", "Bayes", "SOSR", "Poisson"), PALETTE, strict=False))
_WAYS = dict(zip(("DAE", "SEAE", "CAE"), PALETTE[4:], strict=True))


class Curve(NamedTuple):
    """How a method is drawn."""

    name: str
    base: str
    colour: str
    style: str
    label: str


DECISIONS = [Curve(name, BASE, colour, "o-", name) for name, colour in COLOURS.items()]
PRETRAININGS = [
    Curve(
        name_of(way),
        NONE,
        _WAYS[way.partition(" ")[0]],
        "o-" if way.endswith("all") else "s:",
        f"{way.partition(' ')[0]}, {'all' if way.endswith('all') else 'labelled'} inputs",
    )
    for way in WAYS[1:]
]


def _units(hidden: str) -> float:
    """Returns the place of a network on an axis."""
    return {"linear": 1.0}.get(hidden) or float(hidden)


class Plot(NamedTuple):
    """A plot of ratios against one column, with a panel for each value of another."""

    name: str
    part: str
    column: str
    label: str
    curves: Sequence[Curve] = DECISIONS
    number: Callable[[str], float] = float
    logarithmic: bool = True
    only: str | None = None
    panels: tuple[str, ...] = ("set",)
    title: str | None = None


PLOTS = (
    Plot("model", "model", "hidden", "hidden units", number=_units),
    Plot(
        "noise",
        "confidence",
        "noise",
        "label noise",
        logarithmic=False,
        only="hidden == '64' and beyond == 1",
        title="How overconfident: label noise",
    ),
    Plot(
        "epochs",
        "confidence",
        "beyond",
        "updates, in multiples of the best number",
        only="hidden == '64' and noise in (0.0, 0.4)",
        panels=("noise", "set"),
        title="How overconfident: training beyond the best snapshot",
    ),
    Plot("ratio", "ratio", "costs", "largest cost / smallest cost"),
    Plot("rare", "rare", "kept", "share of a third of the classes"),
    Plot("classes", "classes", "classes", "classes", panels=("family",)),
    Plot(
        "labels",
        "labels",
        "labels",
        "labelled examples",
        curves=PRETRAININGS,
        panels=("hidden", "set"),
    ),
)


def _panel(axes: Axes, frame: pd.DataFrame, plot: Plot) -> tuple[list[float], set[float]]:
    """Draws the curves of a panel; returns their means and places."""
    means, places = [], set()
    values = list(dict.fromkeys(frame[plot.column]))
    for index, curve in enumerate(plot.curves):
        points = []
        for value in values:
            found = compare(
                costs_of(frame[frame[plot.column] == value]), curve.name, curve.base, fewest=1
            )
            if found is not None:
                points.append((plot.number(value), *found.ratio))
        if not points:
            continue
        x, mean, low, high = np.array(sorted(points)).T
        means += mean.tolist()
        places |= set(x)
        # Curves are set apart, so that no interval hides another.
        shift = index - (len(plot.curves) - 1) / 2
        x = x * 1.04**shift if plot.logarithmic else x + 0.006 * shift
        axes.errorbar(
            x, mean, (mean - low, high - mean), fmt=curve.style, color=curve.colour,
            label=curve.label, markersize=4, linewidth=1.3, elinewidth=0.7, capsize=2,
        )  # fmt: skip
    axes.axhline(1.0, color=GREY, linestyle="--", linewidth=1.0)
    return means, places


def _tick(value: float, _: object = None) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def _y_ticks(low: float, high: float) -> list[float]:
    span = high / low
    if span < 1.3:
        ticks = np.arange(0.5, 2.0, 0.05)
    elif span < 2.0:
        ticks = np.arange(0.1, 4.0, 0.1)
    else:
        steps = [1, 2, 5] if span > 10 else [1, 1.5, 2, 3, 5, 7]
        ticks = np.outer(10.0 ** np.arange(-3, 4), steps).ravel()
    return [round(float(tick), 4) for tick in ticks if low <= tick <= high]


def set_ratio_axis(axes: Axes, values: Sequence[float]) -> None:
    """Makes a logarithmic axis of ratios that shows some values, if not their whole intervals."""
    low, high = min(values), max(values)
    # Intervals of few pairs are far wider than the differences between curves.
    room = max(1.12, (high / low) ** 0.25)
    low, high = low / room, high * room
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(FixedLocator(_y_ticks(low, high)))
    axes.yaxis.set_major_formatter(FuncFormatter(_tick))
    axes.yaxis.set_minor_formatter(NullFormatter())


def panels(count: int, columns: int) -> tuple[Figure, list[Axes]]:
    """Returns a figure with a number of panels, in rows of so many columns."""
    rows = -(-count // columns)
    figure = Figure(figsize=(1.2 + 3.3 * columns if count > 1 else 6, 1.4 + 2.6 * rows))
    figure.set_layout_engine("constrained")
    grid = list(figure.subplots(rows, columns, squeeze=False).ravel())
    for axes in grid[count:]:
        axes.set_visible(False)
    for axes in grid[:count]:
        axes.spines[["top", "right"]].set_visible(False)
    return figure, grid[:count]


def draw(frame: pd.DataFrame, plot: Plot) -> Figure | None:
    """Draws a plot; returns `None` if its part has no pair of results."""
    own = frame[frame["part"] == plot.part]
    own = own if plot.only is None else own.query(plot.only)
    groups = dict(list(own.groupby(list(plot.panels), sort=False)))
    count = len(groups)
    if not len(own):
        return None
    columns = min(count, 2 if count == 4 else 4 if count % 4 == 0 else 3)
    figure, grid = panels(count, columns)
    handles = {}
    for axes, (key, part) in zip(grid, groups.items(), strict=True):
        means, places = _panel(axes, part, plot)
        handles |= dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
        set_ratio_axis(axes, [*means, 1.0])
        if plot.logarithmic:
            axes.set_xscale("log")
        axes.xaxis.set_major_locator(FixedLocator(sorted(places)))
        axes.xaxis.set_minor_locator(FixedLocator([]))
        linear = {1.0: "linear"} if plot.column == "hidden" else {}
        axes.xaxis.set_major_formatter(
            FuncFormatter(lambda x, _, names=linear: names.get(round(x, 6)) or _tick(x))
        )
        words = {"noise": "{:.0%} label noise", "hidden": "{} units"}
        names = [
            words.get(it, "{}").format(value) for it, value in zip(plot.panels, key, strict=True)
        ]
        axes.set_title(", ".join(reversed(names)), fontsize=10)
    for place, axes in enumerate(grid):
        if place >= count - columns:
            axes.set_xlabel(plot.label)
        if place % columns == 0:
            axes.set_ylabel(f"cost / cost of {plot.curves[0].base}")
    ways = plot.curves is PRETRAININGS
    figure.suptitle(
        (plot.title or TITLES[plot.part])
        + (" (calibrated Bayes without pre-training = 1)" if ways else ""),
        fontsize=11,
    )
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=3 if ways else 4,
        frameon=False,
    )  # fmt: skip
    return figure
