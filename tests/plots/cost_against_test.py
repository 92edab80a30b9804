import numpy as np
import pytest

from csdl_keras.plots import cost_against
from tests.plots.drawn import legend_of, line_of, star_of

VALUES = np.array([0.1, 0.01, 0.1, 1.0, 0.01, 10.0, 1.0])
COSTS = np.array([2.0, 4.0, 1.5, 2.5, 3.0, 5.0, 3.5])


class TestCostAgainst:
    def test_dots_line_and_star(self):
        axes = cost_against(VALUES, COSTS, "cost scale", label="trials")
        dots = axes.get_lines()[0]
        np.testing.assert_array_equal(dots.get_xydata(), np.column_stack([VALUES, COSTS]))
        assert dots.get_linestyle() == "None"
        lowest = [[0.01, 0.1, 1.0, 10.0], [3.0, 1.5, 2.5, 5.0]]
        np.testing.assert_array_equal(line_of(axes, "trials"), lowest)
        assert star_of(axes) == (0.1, 1.5)
        assert legend_of(axes) == ["trials", "lowest: 1.5 at 0.1"]
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("cost scale", "cost")
        assert axes.get_xscale() == "linear"

    @pytest.mark.parametrize("distinct, lines", [(12, 3), (13, 2)])
    def test_no_line_above_12_values(self, distinct, lines):
        values = np.arange(distinct + 5) % distinct
        axes = cost_against(values, values + 1.0, "units", label="trials")
        assert len(axes.get_lines()) == lines
        assert legend_of(axes) == ["trials", "lowest: 1 at 0"]

    def test_ticks_of_whole_numbers_are_whole(self):
        axes = cost_against([1, 2, 3], [3.0, 1.0, 2.0], "hidden layers")
        axes.figure.draw_without_rendering()
        assert np.all(axes.get_xticks() == np.rint(axes.get_xticks()))
