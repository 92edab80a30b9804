import numpy as np

from csdl_keras.evaluation import risk_coverage_curve
from csdl_keras.plots import risk_coverage
from tests.plots.drawn import legend_of

MATRIX = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [1.0, 4.0, 0.0]])
RNG = np.random.default_rng(1)
EXPECTED = RNG.gamma(1.0, size=(60, 3))
# The higher the lowest expected cost, the more often the decision is wrong.
Y_TRUE = np.where(
    RNG.uniform(size=60) < 0.8 * EXPECTED.min(axis=1), RNG.integers(3, size=60), EXPECTED.argmin(1)
)


class TestRiskCoverage:
    def test_curve_and_its_area(self):
        axes = risk_coverage(Y_TRUE, EXPECTED, MATRIX, label="CSDNN")
        coverages, risks = risk_coverage_curve(Y_TRUE, EXPECTED, MATRIX)
        (line,) = axes.get_lines()
        np.testing.assert_allclose(line.get_xdata(), [0.0, *coverages])
        np.testing.assert_allclose(line.get_ydata(), [risks[0], *risks])
        assert line.get_drawstyle() == "steps-pre"
        area = float(np.sum(np.diff(line.get_xdata()) * line.get_ydata()[1:]))
        assert legend_of(axes) == [f"CSDNN: area {area:.3g}"]

    def test_axis_begins_where_costs_rise(self):
        expected = np.full((100, 2), [0.0, 9.0])
        expected[:, 0] = np.arange(100) / 100
        labels = np.repeat([0, 1], [80, 20])
        axes = risk_coverage(labels, expected, [[0, 1], [1, 0]])
        # From the first cost at .8 on, with a tenth of the rest before.
        np.testing.assert_allclose(axes.get_xlim(), (0.78, 1.0))
        risk_coverage(labels[::-1], expected, [[0, 1], [1, 0]], ax=axes)
        np.testing.assert_allclose(axes.get_xlim(), (0.0, 1.0))
