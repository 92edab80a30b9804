import math

import numpy as np
import pytest

from csdl_keras.experiments.comparison import ComparedResult
from csdl_keras.experiments.display import summary_table
from csdl_keras.experiments.summaries import summarise


def make_result(algorithm="csdnn", cost_seed=1000, cost=1 / 3, error=0.25, seconds=2.0):
    end = {"epochs": 3, "train_size": 400, "seed": 0, "backend": "tensorflow"}
    row = ("digits", False, algorithm, cost_seed, cost, error, 0.5, seconds)
    return ComparedResult(*row, **end, effort="balanced")


class TestSummarise:
    def test_means_and_standard_errors(self):
        rng = np.random.default_rng(0)
        results = [
            make_result(name, seed, rng.uniform() + (name == "dnn_sosr"), *rng.uniform(size=2))
            for seed in (1000, 1001, 1002)
            for name in ("dnn_sosr", "csdnn")
        ]
        summaries = summarise(results)
        assert [summary.algorithm for summary in summaries] == ["csdnn", "dnn_sosr"]
        for start, summary in zip((1, 0), summaries, strict=True):
            columns = ("average_cost", "error_rate", "train_seconds")
            rows = np.array([[getattr(row, name) for name in columns] for row in results[start::2]])
            found = (summary.average_cost, summary.error_rate, summary.train_seconds)
            assert found == pytest.approx(rows.mean(axis=0))
            assert summary.standard_error == pytest.approx(rows[:, 0].std(ddof=1) / 3**0.5)
            assert summary.matrices == 3

    def test_algorithms_with_fewer_matrices_are_no_best_ones(self):
        """After an interruption some algorithms lack the costly second matrix."""
        results = [
            make_result("csdnn", 1000, 1.0),
            make_result("csdnn", 1001, 5.0),
            make_result("dnn_blind", 1000, 2.0),
        ]
        summaries = summarise(results)
        found = [(summary.algorithm, summary.matrices) for summary in summaries]
        assert found == [("csdnn", 2), ("dnn_blind", 1)]
        assert math.isnan(summaries[1].standard_error)
        table = summary_table(summaries, "digits")
        assert [row.style for row in table.rows] == ["bold", None]
        costs = list(table.columns[2].cells)
        assert costs == ["3.000 (1.000–5.000)", "2.000 (n = 1)"] and ", or n" in table.caption

    @pytest.mark.parametrize(
        "number, told, caption",
        [
            (1, "1.000", "mean over test examples"),
            (2, "1.500 (1.000–2.000)", "mean and range over 2 cost matrices"),
            (3, "2.000 ± 0.577", "mean ± standard error over 3 cost matrices"),
        ],
    )
    def test_the_spread_of_few_matrices_is_their_range(self, number, told, caption):
        results = [make_result("csdnn", 1000 + i, 1.0 + i) for i in range(number)]
        table = summary_table(summarise(results), "digits")
        assert list(table.columns[2].cells) == [told] and table.caption.startswith(caption)
