import math

import pandas
import pytest

from csdl_keras.paper.beta_curve import BetaCurve, read_beta_curves
from csdl_keras.paper.decisions import Decisions
from tests.paper.made_up_folder import BETAS, change_arrays, read_rows, write_folder, write_rows

NAMES = BETAS.split()


def row(beta, cost, error=0.1, validation=1.0, seed=1000):
    return "mnist", False, "csdnn", seed, beta, cost, error, validation


def curve_of(rows, folder):
    return BetaCurve(pandas.DataFrame(rows, columns=NAMES), Decisions(folder, "mnist"))


class TestBetaCurve:
    def test_means_and_standard_errors(self, tmp_path):
        rows = [row(1, 3, 0.3), row(0, 1, 0.1), row(0, 2, 0.4, seed=1001), row(1, 5, seed=1001)]
        curve = curve_of(rows, tmp_path)
        assert (curve.betas.tolist(), curve.costs.tolist()) == ([0, 1], [1.5, 4])
        errors = [math.hypot(0.1, 0.4) / 2, math.hypot(0.3, 0.1) / 2]
        assert curve.standard_errors == pytest.approx(errors)
        assert curve.matrices == 2
        assert curve.chosen is None and curve.compare(0.0) is None

    def test_rows_that_are_left_out(self, tmp_path):
        """Matrices without all betas, and betas whose training diverged."""
        curve = curve_of([row(0, 1), row(0.5, 2), row(1, 3), row(0, 9, seed=1001)], tmp_path)
        assert (curve.matrices, curve.costs.tolist()) == (1, [1, 2, 3])
        curve = curve_of(
            [row(0, 1), row(0.5, math.inf, math.nan, math.inf), row(0.7, 2), row(1, 3)], tmp_path
        )
        assert curve.betas.tolist() == [0, 0.7, 1] and curve.betas[curve.chosen] == 0.7

    def test_chosen_by_validation_inside_the_interval(self, tmp_path):
        curve = curve_of(
            [row(0, 3, validation=0), row(0.1, 1, validation=5), row(0.4, 2, validation=4)],
            tmp_path,
        )
        assert curve.chosen == 2 and curve.compare(1.0) is None
        difference = curve.compare(0.0)
        margin = 1.96 * math.hypot(0.1, 0.1)
        assert difference.mean == -1 and difference.ratio == pytest.approx(2 / 3)
        assert (difference.low, difference.high) == pytest.approx((-1 - margin, -1 + margin))

    def test_the_error_of_several_matrices_is_in_the_interval(self, tmp_path):
        rows = [row(0, 2), row(0, 2, seed=1001), row(0.5, 1, 0.1), row(0.5, 1.4, 0.1, seed=1001)]
        found = curve_of(rows, tmp_path).compare(0.0)
        # Differences of -1 and -.6: a deviation of .283, t = 12.706.
        half = math.hypot(12.7062 * 0.2828427 / 2**0.5, 1.96 * 0.1)
        assert found.matrices == 2 and found.mean == pytest.approx(-0.8)
        assert (found.low, found.high) == pytest.approx((-0.8 - half, -0.8 + half), rel=1e-4)

    def test_reads_the_decisions(self, tmp_path):
        assert read_beta_curves(tmp_path) == []
        seeds = range(1000, 1008)
        write_folder(tmp_path, seeds=seeds)
        before = {curve.title: curve.compare(0.0) for curve in read_beta_curves(tmp_path)}
        assert list(before) == ["MNIST", "MNIST, imbalanced"]
        arrays = change_arrays(tmp_path)
        labels, number = arrays["labels"], len(arrays["matrix_1000"])
        right = {f"csdnn_{seed}_beta_0.4": labels for seed in seeds}
        wrong = {f"csdnn_{seed}_beta_0": (labels + 1) % number for seed in seeds}
        change_arrays(tmp_path, **right, **wrong)
        after = {curve.title: curve.compare(0.0) for curve in read_beta_curves(tmp_path)}
        assert after["MNIST, imbalanced"] == before["MNIST, imbalanced"]
        assert after["MNIST"].cheaper and after["MNIST"].ratio == 0

    @pytest.mark.parametrize("change", [{"beta": 1.5}, {"test_cost": -1}, {"imbalanced": "no"}])
    def test_rows_that_do_not_fit(self, change, tmp_path):
        write_folder(tmp_path)
        rows = read_rows(tmp_path / "beta_curve.csv")
        write_rows(tmp_path / "beta_curve.csv", [rows[0] | change, *rows[1:]])
        with pytest.raises(ValueError, match="Expected .*beta_curve.csv"):
            read_beta_curves(tmp_path)
