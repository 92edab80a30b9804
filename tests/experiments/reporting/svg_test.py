import re

import numpy as np
import pytest

from csdl_keras.experiments.reporting.beta_curve import BetaCurve
from csdl_keras.experiments.reporting.beta_row import BetaRow
from csdl_keras.experiments.reporting.svg import spaced, svg_text
from csdl_keras.experiments.reporting.svg_beta import render_beta_curve


class TestSvg:
    def test_text_is_escaped(self):
        assert "&lt;b&gt;" in svg_text(0, 0, "<b>")

    @pytest.mark.parametrize(
        "positions, kept", [([], []), ([3], [0]), ([0, 1], [1]), ([0, 9, 30, 35], [0, 3])]
    )
    def test_spaced(self, positions, kept):
        assert spaced(positions, 10) == kept


class TestBetaCurve:
    @pytest.mark.parametrize("scale", [1e-4, 0.1, 1.0, 150.0])
    @pytest.mark.parametrize("error", [0.0, 0.01])
    def test_points_lie_at_their_costs(self, scale, error):
        costs = scale * np.array([1.0, 0.8, 0.9, 1.3])
        curve = BetaCurve(
            [
                BetaRow("mnist", False, "csdnn", 1000, beta, cost, scale * error, cost)
                for beta, cost in zip((0.0, 0.1, 0.5, 1.0), costs, strict=True)
            ]
        )
        text = render_beta_curve(curve)
        line = re.search(r'<polyline points="([^"]*)"', text)[1]
        points = np.array([[float(each) for each in pair.split(",")] for pair in line.split()])
        ticks = re.findall(r'y="([\d.]+)" text-anchor="end" class="">([\d.]+)<', text)[:-1]
        heights, values = np.array(ticks, dtype=float).T
        assert 3 <= len(ticks) <= 8 and len(set(values)) == len(ticks)
        slope, start = np.polyfit(heights, values, 1)
        np.testing.assert_allclose(start + slope * points[:, 1], costs, atol=0.02 * scale)
        steps = np.diff(points[:, 0]) / np.diff(curve.betas)
        np.testing.assert_allclose(steps, steps[0], rtol=0.02)
        assert text.count('class="ring"') == 1

    def test_equal_costs(self):
        rows = [BetaRow("mnist", False, "csdnn", 1, beta, 0.5, 0.0, 1.0) for beta in (0.0, 1.0)]
        assert "nan" not in render_beta_curve(BetaCurve(rows))
