import numpy as np
import pytest

from csdl_keras import plots
from tests.plots.arguments_test import COST, DECISION
from tests.plots.drawn import legend_of, line_of


def bands_of(axes):
    """Lower and upper ends of each band at its horizontal coordinates."""
    vertices = [band.get_paths()[0].vertices for band in axes.collections]
    return [
        [[y[x == at].min(), y[x == at].max()] for at in np.unique(x)]
        for x, y in (it.T for it in vertices)
    ]


def test_decision_curve():
    axes = plots.decision_curve(DECISION)
    np.testing.assert_array_equal(line_of(axes, "a"), [[0.1, 0.5, 0.9], DECISION.net_benefit["a"]])
    np.testing.assert_array_equal(line_of(axes, "treat all")[1], DECISION.treat_all)
    np.testing.assert_array_equal(line_of(axes, "treat none")[1], np.zeros(3))
    np.testing.assert_allclose(
        bands_of(axes)[0], np.transpose([DECISION.low["a"], DECISION.high["a"]])
    )
    # Net benefits far below 0 do not flatten the rest.
    assert DECISION.treat_all[-1] < -1 < axes.get_ylim()[0] < 0 < DECISION.high["a"].max()
    assert axes.get_ylim()[1] > DECISION.high["a"].max()


def test_cost_curve():
    axes = plots.cost_curve(COST)
    for name, band in zip("ab", bands_of(axes), strict=True):
        np.testing.assert_array_equal(line_of(axes, name), [COST.values, COST.costs[name]])
        np.testing.assert_allclose(band, np.transpose([COST.low[name], COST.high[name]]))
    np.testing.assert_array_equal(line_of(axes, "best constant decision")[1], COST.trivial)
    assert axes.get_xlabel() == "probability cost PC(+)" and axes.get_ylim()[0] == 0.0
    # Curves of other models on the same Axes share the dashed line.
    plots.cost_curve(COST, ax=axes)
    assert legend_of(axes) == ["best constant decision", "a", "b", "a", "b"]
    colours = [line.get_color() for line in axes.get_lines()]
    assert len({*colours}) == 5


@pytest.mark.parametrize("draw", [plots.decision_curve, plots.cost_curve])
def test_refused(draw):
    with pytest.raises(ValueError, match="Expected `curve` to be a result of `evaluation"):
        draw([0.1, 0.2])
