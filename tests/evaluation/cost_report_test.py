import numpy as np
import pytest

from csdl_keras.evaluation import compare_costs, cost_interval, cost_report, normalized_cost

C = np.array([[0.0, 1.0], [9.0, 0.0]])
LABELS = np.arange(40) % 2
MODELS = {
    "bad": np.where(np.arange(40) % 3 == 0, 1 - LABELS, LABELS),
    "all 1": np.ones(40, int),
    "good": np.where(np.arange(40) == 0, 1, LABELS),
}


class TestCostReport:
    def test_rows(self):
        report = cost_report(MODELS, LABELS, C)
        assert report.size == 40
        assert [row.name for row in report.rows] == ["good", "all 1", "bad"]
        assert report.rows[0].against_best is None
        for row in report.rows:
            own = MODELS[row.name]
            assert (row.low, row.high) == cost_interval(LABELS, own, C)
            assert row.normalized_cost == pytest.approx(normalized_cost(LABELS, own, C))
            assert row.savings == 1 - row.normalized_cost
            assert row.error_rate == np.mean(own != LABELS) and row.abstained == 0
            assert row.average_cost == pytest.approx(np.mean(row.per_class))
        assert report.rows[2].against_best == compare_costs(
            LABELS, MODELS["bad"], MODELS["good"], C
        )

    def test_text_shows_every_model(self):
        report = cost_report({"<a>": [0, 1, 0], "b": [0, 0, 1]}, [0, 1, 1], C)
        lines = str(report).splitlines()
        assert len(lines) == 17 and "average cost" in lines[0] and "abstains" not in lines[0]
        assert lines[9].split() == ["cost", "of", "class", "0", "1"]
        assert lines[11].split() == ["b", "0", "4.5"]
        assert lines[1].startswith("<a>")
        assert repr(report) == str(report)

    def test_abstentions_are_neither_right_nor_wrong(self):
        report = cost_report({"a": [0, 2, 0]}, [0, 1, 1], [[0, 1, 0.5], [9, 0, 0.5]])
        (row,) = report.rows
        assert (row.error_rate, row.abstained) == pytest.approx((1 / 2, 1 / 3))
        assert "abstains" in str(report)
