"""Compares what is drawn with a committed image."""

import pathlib

import matplotlib.style
from matplotlib.figure import Figure
from matplotlib.testing.compare import compare_images

BASELINES = pathlib.Path(__file__).parent / "baseline"


def remove_words(figure):
    """Removes all text, whose glyphs and widths differ between versions of Matplotlib."""
    for axes in figure.axes:
        axes.set_title("")
        axes.set_xlabel("")
        axes.set_ylabel("")
        axes.tick_params(which="both", **{f"label{side}": False for side in SIDES})
        for text in list(axes.texts):
            text.remove()
        if axes.get_legend() is not None:
            axes.get_legend().remove()


SIDES = ("left", "right", "bottom", "top")


def assert_like_baseline(draw, name, folder):
    """Asserts that `draw(ax)` draws what `baseline/<name>.png` shows.

    If a change is meant, look at the file that the message names, and copy it there.
    """
    actual = folder / f"{name}.png"
    with matplotlib.style.context("default"):
        figure = Figure(figsize=(4, 3), layout="constrained")
        draw(figure.add_subplot())
        remove_words(figure)
        figure.savefig(actual, dpi=60)
    baseline = BASELINES / actual.name
    assert baseline.exists(), f"no {baseline}; drawn: {actual}"
    difference = compare_images(baseline, actual, tol=10)
    assert difference is None, difference


def legend_of(axes):
    """The texts of the legend."""
    return [text.get_text() for text in axes.get_legend().get_texts()]


def line_of(axes, label):
    """Horizontal and vertical coordinates of the line with this label."""
    (line,) = [line for line in axes.get_lines() if line.get_label() == label]
    return line.get_xdata(), line.get_ydata()


def star_of(axes, index=0):
    """Coordinates of a star, by the order of drawing."""
    stars = [line for line in axes.get_lines() if line.get_marker() == "*"]
    return stars[index].get_xdata()[0], stars[index].get_ydata()[0]
