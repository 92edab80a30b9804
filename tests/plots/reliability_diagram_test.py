import numpy as np
import pytest

from csdl_keras.evaluation import calibration_error, reliability
from csdl_keras.plots import reliability_diagram
from tests.plots.drawn import legend_of, line_of

RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.ones(3), 300)
LABELS = (RNG.uniform(size=(300, 1)) > P.cumsum(axis=1)).sum(axis=1)
SHARP = P**3 / (P**3).sum(axis=1, keepdims=True)


def heights_of(axes):
    """Lower and upper ends of the vertical lines of the last curve."""
    return np.array([line[:, 1] for line in axes.collections[-1].get_segments()]).T


class TestReliabilityDiagram:
    @pytest.mark.parametrize("class_id, whose", [(None, "largest"), (1, "class 1")])
    def test_points_and_intervals(self, class_id, whose):
        axes = reliability_diagram(LABELS, SHARP, 5, class_id, label="sharp")
        bins = reliability(LABELS, SHARP, 5, class_id)
        assert bins.count.all() == (class_id is not None)
        label = f"sharp: calibration error {bins.error:.3g}"
        assert legend_of(axes) == [label]
        points = np.array([bins.confidence, bins.frequency])[:, bins.count > 0]
        np.testing.assert_allclose(line_of(axes, label), points)
        np.testing.assert_allclose(heights_of(axes), np.array(bins.intervals())[:, bins.count > 0])
        assert whose in axes.get_xlabel()
        assert axes.get_xlim() == axes.get_ylim() == (0.0, 1.0)

    def test_two_curves_share_a_diagonal(self):
        axes = reliability_diagram(LABELS, P)
        reliability_diagram(LABELS, SHARP, ax=axes)
        assert len(axes.get_lines()) == 3
        error = calibration_error(LABELS, P, 10)
        assert legend_of(axes)[0] == f"calibration error {error:.3g}"
