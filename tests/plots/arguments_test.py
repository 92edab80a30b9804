"""Arguments that several plots have in common."""

from functools import partial

import numpy as np
import pytest
from matplotlib.figure import Figure

from csdl_keras import evaluation, plots

MATRIX = [[0, 1], [9, 0]]
TWO = [[0.9, 0.1], [0.3, 0.7]]
DECISION = evaluation.decision_curve([0, 1, 0], {"a": [0.2, 0.7, 0.4]}, [0.1, 0.5, 0.9])
COST = evaluation.cost_curve([0, 1, 0], {"a": [0, 1, 1], "b": [0, 0, 0]}, values=[0.0, 0.3, 1.0])
HEATMAPS = {
    "cost_confusion": partial(plots.cost_confusion, [0, 1], [0, 0], MATRIX),
    "cost_matrix_heatmap": partial(plots.cost_matrix_heatmap, MATRIX),
}
CURVES = {
    "beta_curve": partial(plots.beta_curve, [0, 1], [[1.0, 2.0]]),
    "cost_against": partial(plots.cost_against, [1, 2], [3, 4], "depth"),
    "cost_against_threshold": partial(plots.cost_against_threshold, [0, 1], [0.2, 0.7], MATRIX),
    "cost_curve": lambda ax=None, label=None: plots.cost_curve(COST, ax),
    "decision_curve": lambda ax=None, label=None: plots.decision_curve(DECISION, ax),
    "reliability_diagram": partial(plots.reliability_diagram, [0, 1], TWO),
    "risk_coverage": partial(plots.risk_coverage, [0, 1], TWO, MATRIX),
}
CALLS = HEATMAPS | CURVES


def test_every_plot_is_here():
    assert sorted(CALLS) == plots.__all__


@pytest.mark.parametrize("draw", CALLS.values(), ids=CALLS)
def test_ax(draw):
    left, right = Figure().subplots(1, 2)
    assert draw(ax=right) is right
    assert right.has_data() and not left.has_data()
    first, second = draw(), draw()
    assert first.figure is not second.figure
    assert first.figure.get_layout_engine() is not None
    with pytest.raises(ValueError, match="Expected `ax` to be an Axes.*; received <Figure"):
        draw(ax=Figure())


@pytest.mark.parametrize(
    "draw, scores", [(plots.risk_coverage, TWO), (plots.cost_against_threshold, [0.2, 0.7])]
)
def test_axes_are_high_enough_for_each_curve(draw, scores):
    axes = draw([0, 1], scores, MATRIX)
    draw([0, 1], scores, 5 * np.array(MATRIX), ax=axes)
    assert axes.get_ylim()[0] == 0.0
    assert axes.get_ylim()[1] > max(np.max(line.get_ydata()) for line in axes.get_lines())


@pytest.mark.parametrize("draw", CURVES.values(), ids=CURVES)
def test_no_legend_over_data(draw):
    figure = Figure((9, 4), layout="constrained")
    for axes in figure.subplots(1, 2):
        for index in range(3):
            draw(ax=axes, label=f"curve {index}")
    figure.draw_without_rendering()
    for axes in figure.axes:
        legend = axes.get_legend().get_window_extent()
        assert legend.y1 <= axes.xaxis.get_tightbbox().y0
        assert legend.y0 >= 0.0
    # Without a layout that makes room, the legend stays within the Axes.
    plain = Figure().add_subplot()
    draw(ax=plain)
    plain.figure.draw_without_rendering()
    assert plain.get_legend().get_window_extent().y0 > plain.get_window_extent().y0
