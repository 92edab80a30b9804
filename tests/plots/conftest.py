"""Compares what a test draws with a committed image."""

import pathlib

import matplotlib.style
import pytest
from matplotlib.figure import Figure
from matplotlib.testing.compare import compare_images

BASELINES = pathlib.Path(__file__).parent / "baseline"


@pytest.fixture
def baseline_axes(request, tmp_path):
    """An Axes that after the test must look like the image with the name of the test's file.

    If a change is meant, look at the file that the message names, and copy it there.
    """
    name = request.path.name.replace("_test.py", ".png")
    with matplotlib.style.context("default"):
        figure = Figure(figsize=(4, 3), layout="constrained")
        yield figure.add_subplot()
        for axes in figure.axes:
            remove_words(axes)
        figure.savefig(tmp_path / name, dpi=60)
    difference = compare_images(BASELINES / name, tmp_path / name, tol=10)
    assert difference is None, difference


def remove_words(axes):
    """Removes all text, whose glyphs and widths differ between versions of Matplotlib."""
    axes.set(title="", xlabel="", ylabel="")
    axes.tick_params(which="both", labelleft=False, labelright=False, labelbottom=False)
    for text in list(axes.texts):
        text.remove()
    if axes.get_legend() is not None:
        axes.get_legend().remove()
