import math

import pytest

from csdl_keras.experiments.reporting.beta_curve import BetaCurve, read_beta_curves
from csdl_keras.experiments.reporting.beta_row import BetaRow
from tests.experiments.reporting.made_up_folder import write_folder


def row(beta, cost, error=0.1, validation=1.0, seed=1000):
    return BetaRow("mnist", False, "csdnn", seed, beta, cost, error, validation)


class TestBetaCurve:
    def test_means_and_standard_errors(self):
        rows = [row(1, 3, 0.3), row(0, 1, 0.1), row(0, 2, 0.4, seed=1001), row(1, 5, seed=1001)]
        curve = BetaCurve(rows)
        assert curve.betas.tolist() == [0, 1]
        assert curve.costs.tolist() == [1.5, 4]
        assert curve.standard_errors == pytest.approx(
            [math.sqrt(0.1**2 + 0.4**2) / 2, math.sqrt(0.3**2 + 0.1**2) / 2]
        )
        assert curve.matrices == 2
        assert curve.chosen is None and curve.compare(0.0) is None

    def test_matrices_without_all_betas_are_left_out(self):
        curve = BetaCurve([row(0, 1), row(0.5, 2), row(1, 3), row(0, 9, seed=1001)])
        assert curve.matrices == 1
        assert curve.costs.tolist() == [1, 2, 3]

    def test_chosen_by_validation_inside_the_interval(self):
        curve = BetaCurve(
            [row(0, 3, validation=0), row(0.1, 1, validation=5), row(0.4, 2, validation=4)]
        )
        assert curve.chosen == 2
        difference = curve.compare(0.0)
        margin = 1.96 * math.sqrt(0.1**2 + 0.1**2)
        assert difference.mean == -1
        assert (difference.low, difference.high) == pytest.approx((-1 - margin, -1 + margin))
        assert difference.ratio == pytest.approx(2 / 3)
        assert curve.compare(1.0) is None

    def test_betas_that_diverged_are_left_out(self):
        rows = [row(0, 1), row(0.5, math.inf, math.nan, math.inf), row(0.7, 2), row(1, 3)]
        curve = BetaCurve(rows)
        assert curve.betas.tolist() == [0, 0.7, 1]
        assert curve.betas[curve.chosen] == 0.7

    def test_read(self, tmp_path):
        assert read_beta_curves(tmp_path) == []
        write_folder(tmp_path)
        curves = read_beta_curves(tmp_path)
        assert [curve.title for curve in curves] == ["MNIST", "MNIST, imbalanced"]

    @pytest.mark.parametrize("change", [{"beta": 1.5}, {"cost": -1}, {"error": math.nan}])
    def test_rows_that_do_not_fit(self, change):
        with pytest.raises(ValueError, match="Expected `"):
            row(**{"beta": 0.5, "cost": 1, **change})
