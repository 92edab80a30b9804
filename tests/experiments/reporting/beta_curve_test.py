import math

import numpy as np
import pytest

from csdl_keras.experiments.reporting.beta_curve import BetaCurve, read_beta_curves
from csdl_keras.experiments.reporting.comparison import PairedDifferences
from csdl_keras.experiments.reporting.reading import BetaRow
from tests.experiments.reporting.made_up_folder import write_folder


def row(beta, cost, error=0.1, validation=1.0, seed=1000):
    return BetaRow("mnist", False, "csdnn", seed, beta, cost, error, validation)


class TestBetaCurve:
    def test_means_and_standard_errors(self):
        rows = [row(1, 3, 0.3), row(0, 1, 0.1), row(0, 2, 0.4, seed=1001), row(1, 5, seed=1001)]
        curve = BetaCurve(rows)
        assert (curve.betas.tolist(), curve.costs.tolist()) == ([0, 1], [1.5, 4])
        errors = [math.hypot(0.1, 0.4) / 2, math.hypot(0.3, 0.1) / 2]
        assert curve.standard_errors == pytest.approx(errors)
        assert curve.matrices == 2
        assert curve.chosen is None and curve.compare(0.0) is None

    def test_rows_that_are_left_out(self):
        """Matrices without all betas, and betas whose training diverged."""
        curve = BetaCurve([row(0, 1), row(0.5, 2), row(1, 3), row(0, 9, seed=1001)])
        assert (curve.matrices, curve.costs.tolist()) == (1, [1, 2, 3])
        curve = BetaCurve(
            [row(0, 1), row(0.5, math.inf, math.nan, math.inf), row(0.7, 2), row(1, 3)]
        )
        assert curve.betas.tolist() == [0, 0.7, 1] and curve.betas[curve.chosen] == 0.7

    def test_chosen_by_validation_inside_the_interval(self):
        curve = BetaCurve(
            [row(0, 3, validation=0), row(0.1, 1, validation=5), row(0.4, 2, validation=4)]
        )
        assert curve.chosen == 2 and curve.compare(1.0) is None
        difference = curve.compare(0.0)
        margin = 1.96 * math.hypot(0.1, 0.1)
        assert difference.mean == -1 and difference.ratio == pytest.approx(2 / 3)
        assert (difference.low, difference.high) == pytest.approx((-1 - margin, -1 + margin))

    def test_the_error_of_several_matrices_is_in_the_interval(self):
        rows = [row(0, 2), row(0, 2, seed=1001), row(0.5, 1, 0.1), row(0.5, 1.4, 0.1, seed=1001)]
        found = BetaCurve(rows).compare(0.0)
        # Differences of -1 and -.6: a deviation of .283, t = 12.706.
        half = math.hypot(12.7062 * 0.2828427 / 2**0.5, 1.96 * 0.1)
        assert found.matrices == 2 and found.mean == pytest.approx(-0.8)
        assert (found.low, found.high) == pytest.approx((-0.8 - half, -0.8 + half), rel=1e-4)

    def test_costs_of_examples_are_compared_in_pairs(self):
        """The same examples are costly at both betas, so that the difference is certain."""
        generator = np.random.default_rng(0)
        costly = generator.uniform(0, 10, 2000)
        costs = {0.0: costly + 0.1, 0.5: costly, 1.0: costly + 0.1 * generator.normal(size=2000)}
        rows = [
            row(beta, c.mean(), c.std(ddof=1) / len(c) ** 0.5, beta) for beta, c in costs.items()
        ]
        apart = BetaCurve(rows).compare(0.0)
        largest = {1000: 11.0, 7: 11.0}
        curve = BetaCurve(rows, {beta: {1000: c, 7: c} for beta, c in costs.items()}, largest)
        paired = curve.compare(0.0)
        assert apart.tied and paired.cheaper
        assert paired.mean == pytest.approx(apart.mean) == pytest.approx(-0.1)
        pairs = PairedDifferences({beta: {(1000, 0): c} for beta, c in costs.items()}, largest)
        expected = pairs.compare(0.5, 1.0)
        for name in ("mean", "low", "high", "ratio", "matrices"):
            assert getattr(curve.compare(1.0), name) == pytest.approx(getattr(expected, name))
        part = BetaCurve(rows, {beta: {1000: costs[beta]} for beta in (0.0, 0.5)}, largest)
        assert part.compare(0.0).low == pytest.approx(paired.low)
        assert part.compare(1.0) == BetaCurve(rows).compare(1.0)

    def test_reads_the_decisions(self, tmp_path):
        assert read_beta_curves(tmp_path) == []
        seeds = range(1000, 1008)
        write_folder(tmp_path, seeds=seeds)
        before = {curve.title: curve.compare(0.0) for curve in read_beta_curves(tmp_path)}
        assert list(before) == ["MNIST", "MNIST, imbalanced"]
        path = tmp_path / "test_decisions" / "mnist.npz"
        with np.load(path) as file:
            arrays = dict(file)
        labels = arrays["labels"]
        for seed in seeds:
            arrays[f"csdnn_{seed}_beta_0.4"] = labels
            arrays[f"csdnn_{seed}_beta_0"] = (labels + 1) % len(arrays[f"matrix_{seed}"])
        np.savez(path, **arrays)
        after = {curve.title: curve.compare(0.0) for curve in read_beta_curves(tmp_path)}
        assert after["MNIST, imbalanced"] == before["MNIST, imbalanced"]
        assert after["MNIST"].cheaper and after["MNIST"].ratio == 0

    @pytest.mark.parametrize("change", [{"beta": 1.5}, {"cost": -1}, {"error": math.nan}])
    def test_rows_that_do_not_fit(self, change):
        with pytest.raises(ValueError, match="Expected `"):
            row(**{"beta": 0.5, "cost": 1, **change})
