import statistics

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from csdl_keras.plots import beta_curve
from csdl_keras.plots.beta_curve import beta_table
from tests.plots.drawn import legend_of, line_of, star_of, ticks_of

BETAS = [0, 0.05, 0.1, 0.25, 0.4, 0.75, 1]
SHAPE = np.array([1.0, 0.9, 0.85, 0.7, 0.8, 0.95, 1.2])
COSTS = np.array([[1.0], [2.0], [2.5]]) * (SHAPE + 0.05 * np.sin(np.arange(21)).reshape(3, 7))


def literal_table(costs, relative):
    means, errors = [], []
    for column in (costs / costs[:, :1] if relative else costs).T:
        known = column[~np.isnan(column)].tolist()
        means.append(statistics.fmean(known) if known else np.nan)
        errors.append(statistics.stdev(known) / len(known) ** 0.5 if len(known) > 1 else np.nan)
    return means, errors


def band_of(axes):
    """Lower and upper ends of the band at each whole horizontal coordinate."""
    (band,) = axes.collections
    x, y = band.get_paths()[0].vertices.T
    return np.array([[y[x == at].min(), y[x == at].max()] for at in range(7)]).T


class TestBetaTable:
    @hypothesis.settings(max_examples=40)
    @hypothesis.given(st.integers(1, 6), st.integers(1, 7), st.booleans(), st.integers(0, 99))
    def test_against_a_literal_loop(self, repetitions, number, relative, seed):
        rng = np.random.default_rng(seed)
        betas = np.arange(number) / 7
        costs = rng.uniform(0.1, 3.0, size=(repetitions, number))
        costs[rng.uniform(size=costs.shape) < 0.2] = np.nan
        costs[0, 0] = 1.0
        grid, *found = beta_table(betas, costs, relative)
        np.testing.assert_array_equal(grid, betas)
        np.testing.assert_allclose(found, literal_table(costs, relative), atol=1e-12)


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
        assert ticks_of(axes.xaxis) == ["0", "0.05", "0.1", "0.25", "0.4", "0.75", "1"]

    def test_one_line_of_reference(self):
        axes = beta_curve(BETAS, COSTS, relative=True)
        assert "relative to β = 0" in axes.get_ylabel()
        beta_curve(BETAS, COSTS, ax=axes, relative=True)
        assert len(axes.get_lines()) == 5

    def test_other_betas_on_the_same_axes(self):
        axes = beta_curve([0, 0.5, 1], [[1, 2, 3]])
        beta_curve([0, 0.5, 1], [[3, 2, 1]], ax=axes)
        with pytest.raises(ValueError, match=r"'0.5'.*not the betas \['0', '1'\]"):
            beta_curve([0, 1], [[1, 2]], ax=axes)

    @pytest.mark.parametrize(
        "betas, costs, relative, message",
        [
            ([0, 0.5], [[1.0, 2.0, 3.0]], False, "a column for each beta"),
            ([0, 1.5], [[1.0, 2.0]], False, "`betas` to ascend from 0 to 1"),
            ([0.1, 0.5], [[1.0, 2.0]], True, "received a first beta of 0.1"),
        ],
    )
    def test_refused(self, betas, costs, relative, message):
        with pytest.raises(ValueError, match=message):
            beta_curve(betas, costs, relative=relative)
