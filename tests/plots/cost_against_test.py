import numpy as np
import pytest
from matplotlib.figure import Figure

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

    def test_no_line_through_single_trials(self):
        axes = cost_against([0.1, 0.3, 0.2], [3.0, 1.0, 2.0], "rate", label="trials")
        assert [line.get_linestyle() for line in axes.get_lines()] == ["None", "None"]
        assert axes.get_lines()[1].get_marker() == "*"
        assert legend_of(axes) == ["trials", "lowest: 1 at 0.3"]

    def test_ticks_of_whole_numbers_are_whole(self):
        axes = cost_against([1, 2, 3], [3.0, 1.0, 2.0], "hidden layers")
        axes.figure.draw_without_rendering()
        assert np.all(axes.get_xticks() == np.rint(axes.get_xticks()))

    def test_names_of_logarithmic_ticks_do_not_collide(self):
        figure = Figure((4, 3), layout="constrained")
        axes = cost_against([0.0015, 0.003, 0.009], [3, 1, 2], "rate", figure.subplots(), log=True)
        figure.draw_without_rendering()
        extents = [tick.get_window_extent() for tick in axes.get_xticklabels(which="both")]
        shown = sorted((it.x0, it.x1) for it in extents if it.width > 0)
        assert len(shown) >= 2
        assert all(left[1] < right[0] for left, right in zip(shown, shown[1:], strict=False))

    def test_first_of_equal_trials(self):
        assert star_of(cost_against([3, 2, 1], [1, 0.5, 0.5], "depth")) == (2, 0.5)

    @pytest.mark.parametrize(
        "values, costs, keywords, message",
        [
            ([1, 2], [3], {}, "`costs` with an entry for each of 2 `values`"),
            ([1, 2], [3, np.nan], {}, r"`costs` to be finite; received nan at \(1,\)"),
            ([1, np.inf], [3, 4], {}, r"`values` to be finite; received inf at \(1,\)"),
            ([], [], {}, r"`values` of shape \(T,\); received shape \(0,\)"),
            ([0, 1], [1, 2], {"log": True}, "`values` above 0.*received 0.0"),
            ([0, 1], [1, 2], {"name": 3}, "`name` to be a string; received 3"),
        ],
    )
    def test_refused(self, values, costs, keywords, message):
        with pytest.raises(ValueError, match=f"Expected .*{message}"):
            cost_against(values, costs, **{"name": "depth", **keywords})

    def test_image(self, baseline_axes):
        cost_against(VALUES, COSTS, "scale", ax=baseline_axes, log=True)
        assert baseline_axes.get_xscale() == "log"
