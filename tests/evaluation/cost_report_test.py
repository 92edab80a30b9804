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
        assert len(lines) == 20 and "average cost" in lines[0] and "abstains" not in lines[0]
        assert lines[9].split() == ["cost", "of", "class", "0", "1"]
        assert lines[11].split() == ["b", "0", "4.5"]
        assert lines[1].startswith("<a>")
        assert repr(report) == str(report)

    def test_lines_fit_100_columns(self):
        labels, rng = np.arange(3000) % 14, np.random.default_rng(0)
        matrix = rng.uniform(1e5, 9e6, (14, 14)) * (1 - np.eye(14))
        names = [f"class {label:<18}" for label in range(14)]
        models = {f"model {i:<18}": rng.permutation(labels) for i in range(2)}
        options = {"baseline": labels[::-1], "unit": "€", "class_names": names}
        text = str(cost_report(models, labels, matrix, **options))
        assert max(map(len, text.splitlines())) <= 100
        first, second = (block.splitlines() for block in text.split("\n\n")[:2])
        assert "normalised" in first[0] and second[0].split()[-1] == "p"
        assert [line[:24] for line in first] == [line[:24] for line in second]

    def test_frame(self):
        report = cost_report(MODELS, LABELS, C, baseline=MODELS["bad"])
        frame, good = report.to_frame(), report.rows[0]
        assert list(frame.index) == ["good", "all 1", "bad", "today's rule", "always 1"]
        assert frame.loc["good", "average_cost"] == good.average_cost == 1 / 40
        assert frame.loc["bad", "error_rate"] == report.rows[2].error_rate
        assert frame.loc["bad", "p_value"] == report.rows[2].against_best.p_value
        for rival, pair in (
            ("constant", good.against_constant),
            ("baseline", good.against_baseline),
        ):
            names = [f"saved_against_{rival}{end}" for end in ("", "_low", "_high")]
            expected = [-pair.difference, -pair.high, -pair.low, pair.p_value]
            assert frame.loc["good", [*names, f"p_value_against_{rival}"]].tolist() == expected
            assert names[0] not in cost_report(MODELS, LABELS, C).to_frame() or rival == "constant"
        assert np.isnan(frame.loc["always 1", "saved_against_constant"])

    def test_abstentions_are_neither_right_nor_wrong(self):
        report = cost_report({"a": [0, 2, 0]}, [0, 1, 1], [[0, 1, 0.5], [9, 0, 0.5]])
        (row,) = report.rows
        assert (row.error_rate, row.abstained) == pytest.approx((1 / 2, 1 / 3))
        assert "abstains" in str(report)
