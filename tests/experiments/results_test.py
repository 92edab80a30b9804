import math

import numpy as np
import pytest

from csdl_keras.experiments.comparison import summarise
from csdl_keras.experiments.display import summary_table
from csdl_keras.experiments.results import Result


def make_result(algorithm="csdnn", cost_seed=1000, **changes):
    values = {
        "dataset": "digits",
        "imbalanced": False,
        "average_cost": 1 / 3,
        "error_rate": 0.25,
        "validation_cost": 0.5,
        "train_seconds": 2.0,
        "epochs": 3,
        "train_size": 400,
        "seed": 0,
        "backend": "tensorflow",
    }
    return Result(algorithm=algorithm, cost_seed=cost_seed, **{**values, **changes})


class TestSummarise:
    def test_means_and_standard_errors(self):
        rng = np.random.default_rng(0)
        results = [
            make_result(
                name,
                seed,
                average_cost=rng.uniform() + (name == "dnn_sosr"),
                error_rate=rng.uniform(),
                train_seconds=rng.uniform(),
            )
            for seed in (1000, 1001, 1002)
            for name in ("dnn_sosr", "csdnn")
        ]
        summaries = summarise(results)
        assert [summary.algorithm for summary in summaries] == ["csdnn", "dnn_sosr"]
        for start, summary in zip((1, 0), summaries, strict=True):
            rows = results[start::2]
            costs = [row.average_cost for row in rows]
            mean = sum(costs) / 3
            variance = sum((cost - mean) ** 2 for cost in costs) / 2
            assert summary.matrices == 3
            assert summary.average_cost == pytest.approx(mean)
            assert summary.standard_error == pytest.approx(math.sqrt(variance / 3))
            assert summary.error_rate == pytest.approx(np.mean([row.error_rate for row in rows]))
            assert summary.train_seconds == pytest.approx(
                np.mean([row.train_seconds for row in rows])
            )

    def test_algorithms_with_fewer_matrices_are_no_best_ones(self):
        """After an interruption some algorithms lack the costly second matrix."""
        results = [
            make_result("csdnn", 1000, average_cost=1.0),
            make_result("csdnn", 1001, average_cost=5.0),
            make_result("dnn_blind", 1000, average_cost=2.0),
        ]
        summaries = summarise(results)
        found = [(summary.algorithm, summary.matrices) for summary in summaries]
        assert found == [("csdnn", 2), ("dnn_blind", 1)]
        table = summary_table(summaries, "digits")
        assert [row.style for row in table.rows] == ["bold", None]
        costs = [cell.split(" ± ")[0] for cell in table.columns[1].cells]
        assert costs == ["3.000", "2.000 (n = 1)"] and ", or n" in table.caption

    def test_a_single_matrix_has_no_standard_error(self):
        (summary,) = summarise([make_result()])
        assert summary.average_cost == 1 / 3
        assert math.isnan(summary.standard_error)

    def test_nothing(self):
        assert summarise([]) == []
