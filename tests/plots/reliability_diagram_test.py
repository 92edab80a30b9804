import numpy as np
import pytest

from csdl_keras.evaluation import calibration_error, reliability
from csdl_keras.plots import reliability_diagram
from tests.plots.drawn import legend_of, line_of

RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.ones(3), 300)
LABELS = (RNG.uniform(size=(300, 1)) > P.cumsum(axis=1)).sum(axis=1)
SHARP = P**3 / (P**3).sum(axis=1, keepdims=True)


class TestReliabilityDiagram:
    @pytest.mark.parametrize("class_id, whose", [(None, "largest"), (1, "class 1")])
    def test_points(self, class_id, whose):
        axes = reliability_diagram(LABELS, SHARP, num_bins=5, class_id=class_id, label="sharp")
        bins = reliability(LABELS, SHARP, 5, class_id)
        label = f"sharp: calibration error {bins.error:.3g}"
        assert legend_of(axes) == [label]
        full = bins.count > 0
        expected = [bins.confidence[full], bins.frequency[full]]
        np.testing.assert_allclose(line_of(axes, label), expected)
        assert whose in axes.get_xlabel()

    def test_image_of_two_curves_with_one_diagonal(self, baseline_axes):
        reliability_diagram(LABELS, P, ax=baseline_axes)
        reliability_diagram(LABELS, SHARP, ax=baseline_axes)
        assert len(baseline_axes.get_lines()) == 3
        error = calibration_error(LABELS, P)
        assert legend_of(baseline_axes)[0] == f"calibration error {error:.3g}"
