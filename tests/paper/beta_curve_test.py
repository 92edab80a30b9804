import math

import pandas
import pytest

from csdl_keras.paper.beta_curve import BetaCurve, read_beta_curves
from csdl_keras.paper.differences import paired_difference
from csdl_keras.paper.results import Decisions
from tests.paper.made_up_folder import BETAS, DATA, change_arrays, write_folder

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
        rows = [row(0, 3, validation=0), row(0.1, 1, validation=5), row(0.4, 2, validation=4)]
        curve = curve_of(rows, tmp_path)
        assert curve.chosen == 2 and curve.compare(1.0) is None
        assert curve.compare(0.0) is None  # without decisions

    def test_reads_the_decisions(self, tmp_path):
        assert read_beta_curves(tmp_path) == []
        seeds = range(1000, 1004)
        write_folder(tmp_path, DATA[:2], {"csdnn": 0.3}, seeds)
        curves = {curve.title: curve for curve in read_beta_curves(tmp_path)}
        assert list(curves) == ["MNIST", "MNIST, imbalanced"]
        curve = curves["MNIST"]
        assert curve.betas[curve.chosen] == 0.4 and curve.compare(0.0).matrices == 3
        arrays = change_arrays(tmp_path)

        def costs(beta, seed):
            decisions = arrays[f"csdnn_{seed}_beta_{beta}"]
            return arrays[f"matrix_{seed}"][arrays["labels"], decisions]

        pair = [{(seed, 0): costs(beta, seed) for seed in seeds[:-1]} for beta in ("0.4", "1")]
        largest = {seed: arrays[f"matrix_{seed}"].max() for seed in seeds}
        assert curve.compare(1.0) == paired_difference(*pair, largest)
        assert curve.compare(1.0).high < 0
