"""Tests of intervals and paired comparisons: their coverage, and what they find."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from csdl_keras.evaluation import compare_costs, cost_interval, cost_report

C = np.array([[0.0, 1.0], [9.0, 0.0]])


def labels_and_decisions(seed, errors, size=400):
    rng = np.random.default_rng(seed)
    labels = rng.integers(2, size=size)
    return labels, np.where(rng.uniform(size=size) < errors, 1 - labels, labels)


class TestCostInterval:
    @pytest.mark.parametrize("errors", [0.002, 0.1])
    def test_covers_the_true_cost_as_often_as_it_says(self, errors):
        hits = 0
        for seed in range(200):
            labels, decisions = labels_and_decisions(seed, errors)
            low, high = cost_interval(labels, decisions, C)
            hits += low <= errors * (1 + 9) / 2 <= high
        # Of 200 that cover at .95, .915 do so in all but 2 of 100 cases.
        assert 0.915 <= hits / 200

    def test_narrower_with_less_confidence(self):
        labels, decisions = labels_and_decisions(0, 0.1)
        wide, narrow = (cost_interval(labels, decisions, C, level) for level in (0.99, 0.5))
        assert wide[0] < narrow[0] < narrow[1] < wide[1]

    def test_no_mistake_was_seen(self):
        low, high = cost_interval([0, 1] * 500, [0, 1] * 500, C)
        assert low == 0.0 and high == pytest.approx(9 * (1 - 0.025 ** (1 / 1000)))
        vectors = C[[0, 1] * 500]
        assert cost_interval(vectors, [0, 1] * 500) == (low, high)

    def test_costs_that_are_all_alike(self):
        assert cost_interval(np.full((3, 2), 4.0), [0, 1, 0]) == (4.0, 4.0)

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
        assert (same.difference, same.p_value) == (0, 1)
        # Models that decided 400 examples alike may decide others differently.
        assert same.low == -same.high < 0 and same.high == pytest.approx(
            9 * (1 - 0.025 ** (1 / 400))
        )
        assert not same.cheaper and not same.costlier

    def test_chance_alone_is_rarely_called_a_difference(self):
        found = 0
        for seed in range(80):
            labels, first = labels_and_decisions(seed, 0.1)
            second = np.where(
                np.random.default_rng([seed, 5]).uniform(size=400) < 0.1, 1 - labels, labels
            )
            found += compare_costs(labels, first, second, C).p_value < 0.05
        assert found <= 10

    def test_rare_expensive_mistakes_of_one_and_cheap_ones_of_the_other(self):
        """Nine times as many mistakes at a ninth of the price cost the same."""
        found, size = 0, 100
        for seed in range(200):
            rng = np.random.default_rng(seed)
            labels = rng.integers(2, size=size)
            often = np.where((labels == 0) & (rng.uniform(size=size) < 0.36), 1, labels)
            rarely = np.where((labels == 1) & (rng.uniform(size=size) < 0.04), 0, labels)
            found += compare_costs(labels, often, rarely, C).p_value < 0.05
        assert found <= 14

    @hypothesis.settings(max_examples=50, deadline=None)
    @hypothesis.given(st.integers(0, 10**6), st.floats(0.0, 0.3), st.floats(0.0, 0.3))
    def test_interval_and_test_never_contradict(self, seed, errors, other_errors):
        labels, first = labels_and_decisions([seed, 0], errors, 80)
        _, second = labels_and_decisions([seed, 0], other_errors, 80)
        second = np.where(np.arange(80) % 3 == 0, first, second)
        found = compare_costs(labels, first, second, C)
        assert (found.cheaper or found.costlier) == (found.p_value < 0.05)
        assert found.low <= found.difference <= found.high

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

    def test_abstentions_are_neither_right_nor_wrong(self):
        report = cost_report({"a": [0, 2, 0]}, [0, 1, 1], [[0, 1, 0.5], [9, 0, 0.5]])
        (row,) = report.rows
        assert (row.error_rate, row.abstained) == pytest.approx((1 / 2, 1 / 3))
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
