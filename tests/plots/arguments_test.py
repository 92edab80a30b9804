"""What all plots do with the arguments that they share."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from csdl_keras import plots

MATRIX = [[0, 1], [9, 0]]
EXPECTED = np.array([[0.5, 0.9], [0.8, 0.1], [0.3, 0.6]])

CALLS = {
    "beta_curve": lambda **keywords: plots.beta_curve([0, 1], [[1.0, 2.0]], **keywords),
    "cost_against": lambda **keywords: plots.cost_against([1, 2], [3, 4], "depth", **keywords),
    "cost_against_threshold": lambda **keywords: plots.cost_against_threshold(
        [0, 1], [0.2, 0.7], MATRIX, **keywords
    ),
    "cost_confusion": lambda **keywords: plots.cost_confusion([0, 1], [0, 0], MATRIX, **keywords),
    "cost_matrix_heatmap": lambda **keywords: plots.cost_matrix_heatmap(MATRIX, **keywords),
    "reliability_diagram": lambda **keywords: plots.reliability_diagram(
        [0, 1, 0], [[0.9, 0.1], [0.3, 0.7], [0.4, 0.6]], **keywords
    ),
    "risk_coverage": lambda **keywords: plots.risk_coverage(
        [0, 1, 0], EXPECTED, MATRIX, **keywords
    ),
}
HEATMAPS = ("cost_confusion", "cost_matrix_heatmap")
CURVES = tuple(name for name in CALLS if name not in HEATMAPS)


class TestAx:
    def test_every_plot_is_here(self):
        assert sorted(CALLS) == plots.__all__

    @pytest.mark.parametrize("name", CALLS)
    def test_given_one_is_used_and_returned(self, name):
        figure = Figure()
        left, right = figure.subplots(1, 2)
        assert CALLS[name](ax=right) is right
        assert right.has_data() and not left.has_data()
        assert right.figure is figure

    @pytest.mark.parametrize("name", CALLS)
    def test_new_one(self, name):
        first, second = CALLS[name](), CALLS[name]()
        assert first.figure is not second.figure
        assert first.figure.get_layout_engine() is not None

    @pytest.mark.parametrize("name", CALLS)
    def test_refused(self, name):
        with pytest.raises(ValueError, match="Expected `ax` to be an Axes.*; received <Figure"):
            CALLS[name](ax=Figure())


class TestLabel:
    @pytest.mark.parametrize("name", CURVES)
    def test_in_the_legend_and_colours_differ(self, name):
        axes = CALLS[name](label="first")
        CALLS[name](ax=axes, label="second")
        lines = {line.get_label().partition(":")[0]: line.get_color() for line in axes.get_lines()}
        assert lines["first"] != lines["second"]
        words = [text.get_text().partition(":")[0] for text in axes.get_legend().get_texts()]
        assert {"first", "second"} <= set(words)

    @pytest.mark.parametrize("name", CURVES)
    def test_many_curves(self, name):
        axes = CALLS[name](label="0")
        for index in range(1, 8):
            CALLS[name](ax=axes, label=str(index))
        colours = [
            line.get_color()
            for line in axes.get_lines()
            if line.get_label().partition(":")[0].isdigit()
        ]
        assert len(colours) == 8
        assert len(set(colours)) == 7 and colours[7] == colours[0]

    @pytest.mark.parametrize("name", CURVES)
    def test_refused(self, name):
        with pytest.raises(ValueError, match="Expected `label` to be a string.*received 3"):
            CALLS[name](label=3)


class TestNames:
    @pytest.mark.parametrize("name", HEATMAPS)
    @pytest.mark.parametrize("argument", ["class_names", "decision_names"])
    @pytest.mark.parametrize("names", [["a"], "ab", ["a", "b", "c"], 2])
    def test_refused(self, name, argument, names):
        with pytest.raises(ValueError, match=f"Expected `{argument}` to be 2 names; received"):
            CALLS[name](**{argument: names})

    @pytest.mark.parametrize("name", HEATMAPS)
    def test_of_any_kind_of_sequence(self, name):
        axes = CALLS[name](class_names=np.array(["no", "yes"]), decision_names=(10, 20))
        assert [tick.get_text() for tick in axes.get_yticklabels()] == ["no", "yes"]
        assert [tick.get_text() for tick in axes.get_xticklabels()] == ["10", "20"]
