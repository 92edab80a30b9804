import numpy as np
import pytest

from csdl_keras.evaluation import calibration_error, reliability
from csdl_keras.plots import reliability_diagram
from tests.plots.baseline_image import assert_like_baseline, legend_of, line_of

RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.ones(3), 300)
LABELS = (RNG.uniform(size=(300, 1)) > P.cumsum(axis=1)).sum(axis=1)
SHARP = P**3 / (P**3).sum(axis=1, keepdims=True)


class TestReliabilityDiagram:
    @pytest.mark.parametrize("class_id", [None, 1])
    def test_points(self, class_id):
        axes = reliability_diagram(LABELS, SHARP, num_bins=5, class_id=class_id, label="sharp")
        bins = reliability(LABELS, SHARP, 5, class_id)
        label = f"sharp: calibration error {bins.error:.3g}"
        assert legend_of(axes) == [label]
        x, y = line_of(axes, label)
        full = bins.count > 0
        np.testing.assert_allclose(x, bins.confidence[full])
        np.testing.assert_allclose(y, bins.frequency[full])
        whose = "largest" if class_id is None else "class 1"
        assert whose in axes.get_xlabel()

    def test_two_curves_share_one_diagonal(self):
        axes = reliability_diagram(LABELS, P)
        reliability_diagram(LABELS, SHARP, ax=axes, label="sharp")
        assert len(axes.get_lines()) == 3 and len(axes.collections) == 2
        first = calibration_error(LABELS, P)
        assert legend_of(axes)[0] == f"calibration error {first:.3g}"
        colours = [line.get_color() for line in axes.get_lines()]
        assert len(set(colours)) == 3

    def test_refused(self):
        with pytest.raises(ValueError, match="Expected .*received"):
            reliability_diagram(LABELS, 2 * P)
        with pytest.raises(ValueError, match="`label`"):
            reliability_diagram(LABELS, P, label=3)

    def test_image(self, tmp_path):
        def draw(ax):
            reliability_diagram(LABELS, P, ax=ax)
            reliability_diagram(LABELS, SHARP, ax=ax)

        assert_like_baseline(draw, "reliability_diagram", tmp_path)
