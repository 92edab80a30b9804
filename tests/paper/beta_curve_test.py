import math

import numpy as np
import pandas
import pytest

from csdl_keras.paper.beta_curve import BetaCurve, read_beta_curves
from csdl_keras.paper.differences import paired_difference
from csdl_keras.paper.results import Decisions
from tests.paper.made_up_folder import BETA_ERRORS, BETAS, DATA, change_arrays, write_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    write_folder(folder, DATA[:2], {"csdnn": 0.3})
    return folder


def curve_of(folder, costs):
    """The curve of test costs by beta; validation costs are those in the opposite order."""
    rows = [
        ("mnist", False, "csdnn", 1000, beta, cost, 0.1, 10 - cost) for beta, cost in costs.items()
    ]
    rows = pandas.DataFrame(rows, columns=BETAS.split())
    return BetaCurve(rows, Decisions(folder, "mnist"), [1.0])


class TestBetaCurve:
    def test_betas_in_order_without_those_that_diverged(self, folder):
        curve = curve_of(folder, {1.0: 3, 0.0: 1, 0.1: math.inf, 0.4: 2})
        assert (curve.betas.tolist(), curve.costs.tolist()) == ([0, 0.4, 1], [1, 2, 3])
        assert curve.standard_errors.tolist() == [0.1] * 3 and curve.collapsed == [1.0]

    def test_chosen_by_validation_inside_the_interval(self, folder):
        curve = curve_of(folder, {0.0: 9, 0.1: 1, 0.4: 2})
        assert curve.chosen == 2 and curve.compare(1.0) is None
        curve = curve_of(folder, {0.0: 1, 1.0: 2})
        assert curve.chosen is None and curve.compare(0.0) is None

    def test_reads_the_decisions(self, folder, tmp_path):
        assert read_beta_curves(tmp_path) == []
        curves = {curve.title: curve for curve in read_beta_curves(folder)}
        assert list(curves) == ["MNIST", "MNIST, imbalanced"]
        curve = curves["MNIST"]
        assert curve.betas.tolist() == list(BETA_ERRORS) and curve.betas[curve.chosen] == 0.4
        arrays = change_arrays(folder)
        matrix, labels = arrays["matrix_1000"], arrays["labels"]
        pair = [{(1000, 0): matrix[labels, arrays[f"csdnn_1000_beta_{it}"]]} for it in ("0.4", "1")]
        assert curve.compare(1.0) == paired_difference(*pair, {1000: np.max(matrix)})
        assert curve.compare(1.0).high < 0
