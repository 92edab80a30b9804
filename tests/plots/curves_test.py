import numpy as np

from csdl_keras import plots
from tests.plots.arguments_test import COST, DECISION
from tests.plots.drawn import legend_of, line_of


def test_decision_curve():
    axes = plots.decision_curve(DECISION)
    np.testing.assert_array_equal(line_of(axes, "a"), [[0.1, 0.5, 0.9], DECISION.net_benefit["a"]])
    np.testing.assert_array_equal(line_of(axes, "treat all")[1], DECISION.treat_all)
    (band,) = axes.collections
    ends = {*DECISION.low["a"], *DECISION.high["a"]}
    assert {*band.get_paths()[0].vertices[:, 1]} == ends
    # Net benefits far below 0 do not flatten the rest.
    assert DECISION.treat_all[-1] < -1 < axes.get_ylim()[0] < 0 < max(ends) < axes.get_ylim()[1]


def test_cost_curve():
    axes = plots.cost_curve(COST)
    for name, band in zip("ab", axes.collections, strict=True):
        np.testing.assert_array_equal(line_of(axes, name), [COST.values, COST.costs[name]])
        assert {*COST.low[name], *COST.high[name]} == {*band.get_paths()[0].vertices[:, 1]}
    np.testing.assert_array_equal(line_of(axes, "best constant decision")[1], COST.trivial)
    assert axes.get_xlabel() == "probability cost PC(+)"
    # Curves of other models on the same Axes share the dashed line.
    plots.cost_curve(COST, ax=axes)
    assert legend_of(axes) == ["best constant decision", *"abab"]
    assert len({line.get_color() for line in axes.get_lines()}) == 5
