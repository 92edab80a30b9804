"""Tests of intervals and paired comparisons: their coverage, and what they find."""

import numpy as np
import pytest

from csdl_keras.evaluation import compare_costs, cost_interval, cost_report

C = np.array([[0.0, 1.0], [9.0, 0.0]])


def labels_and_decisions(seed, errors, size=400):
    rng = np.random.default_rng(seed)
    labels = rng.integers(2, size=size)
    return labels, np.where(rng.uniform(size=size) < errors, 1 - labels, labels)


class TestCostInterval:
    def test_covers_the_true_cost_about_as_often_as_it_says(self):
        hits = 0
        for seed in range(120):
            labels, decisions = labels_and_decisions(seed, 0.1)
            low, high = cost_interval(labels, decisions, C, replicates=300)
            hits += low <= 0.1 * (1 + 9) / 2 <= high
        assert 0.88 <= hits / 120 <= 0.99

    def test_narrower_with_less_confidence_and_the_same_with_the_same_seed(self):
        labels, decisions = labels_and_decisions(0, 0.1)
        wide, narrow = (cost_interval(labels, decisions, C, level) for level in (0.99, 0.5))
        assert wide[0] < narrow[0] < narrow[1] < wide[1]
        assert cost_interval(labels, decisions, C, 0.5) == narrow

    def test_equal_costs(self):
        assert cost_interval([0, 1], [0, 1], C) == (0.0, 0.0)

    @pytest.mark.parametrize("confidence", [0, 1, 1.5, None])
    def test_refuses(self, confidence):
        with pytest.raises(ValueError, match="`confidence`"):
            cost_interval([0, 1], [0, 0], C, confidence)


class TestCompareCosts:
    def test_finds_a_difference_and_no_difference(self):
        labels, good = labels_and_decisions(0, 0.05)
        bad = np.where(np.random.default_rng(9).uniform(size=400) < 0.1, 1 - labels, good)
        found = compare_costs(labels, good, bad, C)
        assert found.cheaper and not found.costlier and found.p_value < 0.01
        back = compare_costs(labels, bad, good, C)
        assert back.costlier and np.isclose(back.difference, -found.difference)
        assert np.isclose(found.ratio, 1 / back.ratio)
        same = compare_costs(labels, good, good, C)
        assert (same.difference, same.low, same.high, same.p_value) == (0, 0, 0, 1)
        assert not same.cheaper and not same.costlier

    def test_chance_alone_is_rarely_called_a_difference(self):
        found = 0
        for seed in range(80):
            labels, first = labels_and_decisions(seed, 0.1)
            second = np.where(
                np.random.default_rng([seed, 5]).uniform(size=400) < 0.1, 1 - labels, labels
            )
            found += compare_costs(labels, first, second, C, replicates=300).p_value < 0.05
        assert found <= 10

    def test_a_perfect_rival(self):
        assert np.isnan(compare_costs([0, 1], [0, 0], [0, 1], C).ratio)


class TestCostReport:
    def test_rows(self):
        labels, good = labels_and_decisions(0, 0.05)
        _, bad = labels_and_decisions(0, 0.3)
        report = cost_report({"bad": bad, "good": good, "all 1": np.ones(400, int)}, labels, C)
        assert report.size == 400
        assert [row.average_cost for row in report.rows] == sorted(
            row.average_cost for row in report.rows
        )
        assert report.rows[0].against_best is None
        for row in report.rows:
            assert row.low <= row.average_cost <= row.high
            assert np.isclose(row.savings, 1 - row.normalized_cost)
            assert len(row.per_class) == 2
        assert np.isclose(next(r for r in report.rows if r.name == "all 1").normalized_cost, 1)

    def test_text_and_page_show_every_model(self):
        report = cost_report({"<a>": [0, 1, 0], "b": [0, 0, 1]}, [0, 1, 1], C)
        lines = str(report).splitlines()
        assert len(lines) == 9 and "average cost" in lines[0] and "abstains" not in lines[0]
        assert lines[4].split() == ["cost", "of", "class", "0", "1"]
        assert lines[6].split() == ["b", "0", "4.5"]
        assert lines[1].startswith("<a>") or lines[2].startswith("<a>")
        assert "&lt;a&gt;" in report._repr_html_() and "<a>" not in report._repr_html_()

    def test_abstentions_are_no_errors(self):
        report = cost_report({"a": [0, 2, 0]}, [0, 1, 1], [[0, 1, 0.5], [9, 0, 0.5]])
        (row,) = report.rows
        assert (row.error_rate, row.abstained) == pytest.approx((1 / 3, 1 / 3))
        assert "abstains" in str(report) and "abstains" in report._repr_html_()

    def test_of_many_classes_the_dearest_are_shown(self):
        labels = np.arange(40) % 20
        decisions = np.where(labels == 17, 3, labels)
        text = str(cost_report({"a": decisions}, labels, 1 - np.eye(20)))
        assert "17" in text.splitlines()[3].split()
        assert len(text.splitlines()[3].split()) == 3 + 12

    def test_cost_vectors(self):
        report = cost_report({"a": [0, 1]}, [[0.0, 2.0], [3.0, 1.0]])
        (row,) = report.rows
        assert (row.average_cost, row.error_rate, row.per_class) == (0.5, 0.0, ())

    @pytest.mark.parametrize("decisions", [{}, [0, 1], None])
    def test_refuses(self, decisions):
        with pytest.raises(ValueError, match="`decisions`"):
            cost_report(decisions, [0, 1], C)
