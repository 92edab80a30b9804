"""Plots of growth with size, and of costs against seconds."""

import pathlib
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator, StrMethodFormatter
from matplotlib.transforms import Bbox

GROWTHS = {
    "examples, streamed": "examples",
    "classes": "classes K",
    "hidden layers": "hidden layers",
    "cores": "virtual devices",
}
#: Places of a name next to its point: alignment and offset in points.
PLACES = (
    ("left", 6, 0),
    ("left", 5, 7),
    ("left", 5, -7),
    ("right", -6, 0),
    ("right", -5, 7),
    ("right", -5, -7),
    ("center", 0, 11),
    ("center", 0, -11),
)
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
    colours = {"csdl_keras": "C3", "other packages": "C0"}
    names = []
    for row in rows:
        package, name = row["case"].split(": ", 1)
        owner = "csdl_keras" if package == "csdl_keras" else "other packages"
        point = (float(row["x"]), float(row["y"]))
        axes.plot(*point, "o", color=colours[owner])
        names.append(_name(axes, name, point))
    # Room for the annotations at the sides.
    axes.margins(x=0.3)
    axes.set(xscale="log", yscale="log", xlabel="seconds of training and deciding")
    axes.set(ylabel="average test cost")
    _plain_numbers(axes)
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    marks = [Line2D([], [], marker="o", ls="", color=colour) for colour in colours.values()]
    figure.legend(marks, colours, frameon=False, loc="outside lower center", ncols=2)
    _place(names, axes)
    return figure


def _name(axes: Axes, name: str, point: tuple[float, float]) -> Annotation:
    return axes.annotate(
        name, point, xytext=(0, 0), textcoords="offset points", va="center", fontsize=7
    )


def _place(names: Sequence[Annotation], axes: Axes) -> None:
    """Moves each name to the first place next to its point where it covers no name or point."""
    axes.figure.draw_without_rendering()
    # Markers with some space around them, in pixels.
    points = [axes.transData.transform(name.xy) for name in names]
    taken = [Bbox.from_bounds(x - 5, y - 5, 10, 10) for x, y in points]
    for name in names:
        for alignment, *offset in PLACES:
            name.set(ha=alignment, position=offset)
            if not name.get_window_extent().count_overlaps(taken):
                break
        taken.append(name.get_window_extent())


def _plain_numbers(axes: Axes) -> None:
    """Labels 1, 2 and 5 times each power of ten with plain numbers."""
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
