import warnings

import numpy as np
import pytest

from csdl_keras.plots import beta_curve
from csdl_keras.plots.beta_curve import beta_table
from tests.plots.baseline_image import assert_like_baseline, legend_of, line_of, star_of

BETAS = [0, 0.05, 0.1, 0.25, 0.4, 0.75, 1]
SHAPE = np.array([1.0, 0.9, 0.85, 0.7, 0.8, 0.95, 1.2])
COSTS = np.array([[1.0], [2.0], [2.5]]) * (SHAPE + 0.05 * np.sin(np.arange(21)).reshape(3, 7))


def band_of(axes):
    """Lower and upper ends of the band at each whole horizontal coordinate."""
    (band,) = axes.collections
    vertices = band.get_paths()[0].vertices
    return np.array(
        [
            [vertices[vertices[:, 0] == x, 1].min(), vertices[vertices[:, 0] == x, 1].max()]
            for x in range(7)
        ]
    ).T


class TestBetaCurve:
    @pytest.mark.parametrize("relative", [False, True])
    def test_curve_band_and_star(self, relative):
        axes = beta_curve(BETAS, COSTS, label="digits", relative=relative)
        _, means, errors = beta_table(BETAS, COSTS, relative)
        x, y = line_of(axes, "digits")
        assert list(x) == list(range(7))
        np.testing.assert_allclose(y, means)
        np.testing.assert_allclose(band_of(axes), [means - errors, means + errors])
        assert star_of(axes) == (3, means[3])
        assert legend_of(axes) == ["digits", f"lowest: {means[3]:.3g} at β = 0.25"]
        ticks = [tick.get_text() for tick in axes.get_xticklabels()]
        assert ticks == ["0", "0.05", "0.1", "0.25", "0.4", "0.75", "1"]

    def test_relative(self):
        axes = beta_curve(BETAS, COSTS, relative=True)
        assert "relative to β = 0" in axes.get_ylabel()
        assert list(axes.get_lines()[0].get_ydata()) == [1.0, 1.0]
        assert list(band_of(axes)[:, 0]) == [1.0, 1.0]
        beta_curve(BETAS, COSTS, ax=axes, relative=True)
        # One reference line, and a curve and a star each.
        assert len(axes.get_lines()) == 5

    def test_one_repetition_has_no_band(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            axes = beta_curve(BETAS, COSTS[:1])
        assert not axes.collections

    def test_missing_costs(self):
        costs = COSTS.copy()
        costs[0, 3], costs[:, 5] = np.nan, np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            axes = beta_curve(BETAS, costs, label="digits")
            axes.figure.canvas.draw()
        _, y = line_of(axes, "digits")
        assert y[3] == pytest.approx(costs[1:, 3].mean())
        assert np.isnan(y[5]) and np.isfinite(np.delete(y, 5)).all()

    def test_other_betas_on_the_same_axes(self):
        axes = beta_curve([0, 0.5, 1], [[1, 2, 3]])
        beta_curve([0, 0.5, 1], [[3, 2, 1]], ax=axes)
        with pytest.raises(ValueError, match=r"same betas \['0', '1'\]; received .*'0.5'"):
            beta_curve([0, 1], [[1, 2]], ax=axes)

    def test_refused(self):
        with pytest.raises(ValueError, match="Expected .*received"):
            beta_curve([0, 1], [[1, 2, 3]])

    def test_image(self, tmp_path):
        assert_like_baseline(
            lambda ax: beta_curve(BETAS, COSTS, ax=ax, relative=True), "beta_curve", tmp_path
        )
