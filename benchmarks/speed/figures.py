"""Plots of growth with size, and of costs against seconds."""

import pathlib
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator, StrMethodFormatter

GROWTHS = {
    "examples, streamed": "examples",
    "classes": "classes K",
    "hidden layers": "hidden layers",
    "cores": "virtual devices",
}
COLORS = {"tensorflow": "C1", "jax": "C0", "torch": "C3"}


def draw(rows: Sequence[dict[str, str]], folder: pathlib.Path) -> None:
    """Writes `scaling.png` and `pareto.png` if there are rows for them."""
    scaling = [row for row in rows if row["entry"] == "scaling" and row["x"]]
    if scaling:
        _scaling(scaling).savefig(folder / "scaling.png", dpi=100)
    pareto = [row for row in rows if row["entry"] == "pareto" and row["x"]]
    if pareto:
        _pareto(pareto).savefig(folder / "pareto.png", dpi=100)


def _scaling(rows: Sequence[dict[str, str]]) -> Figure:
    figure = Figure(figsize=(12, 3.2), layout="constrained")
    for axes, (ending, label) in zip(figure.subplots(1, 4), GROWTHS.items(), strict=True):
        for backend in dict.fromkeys(row["backend"] for row in rows):
            points = [
                (float(row["x"]), 1e6 * float(row["y"]))
                for row in rows
                if row["backend"] == backend and row["case"].endswith(ending)
            ]
            if points:
                color = COLORS[backend]
                axes.plot(*zip(*points, strict=True), marker="o", color=color, label=backend)
        axes.set(xscale="log", yscale="log", xlabel=label, ylabel="µs an example")
        ticks = sorted({point for line in axes.lines for point in line.get_xdata()})
        axes.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks], rotation=30)
        axes.xaxis.set_minor_locator(NullLocator())
        _plain_numbers(axes)
        axes.legend()
    return figure


def _pareto(rows: Sequence[dict[str, str]]) -> Figure:
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    for row in rows:
        package, name = row["case"].split(": ", 1)
        x, y = float(row["x"]), float(row["y"])
        color = "C3" if package == "csdl_keras" else "C0"
        axes.plot(x, y, "o", color=color)
        axes.annotate(name, (x, y), xytext=(4, 3), textcoords="offset points", fontsize=7)
    # Room for the annotations at the right.
    axes.margins(x=0.25)
    axes.set(xscale="log", yscale="log", xlabel="seconds of training and deciding")
    axes.set(ylabel="average test cost", title="Red: csdl_keras")
    _plain_numbers(axes)
    return figure


def _plain_numbers(axes: Axes) -> None:
    """Labels 1, 2 and 5 times each power of ten with plain numbers."""
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
