"""A cost report in the user's unit: beside today's rule and a constant, and in words."""

import dataclasses
import json

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from csdl_keras.costs import AffineCosts, regret
from csdl_keras.evaluation import compare_costs, cost_interval, cost_report
from csdl_keras.evaluation._report_text import number, rounded
from csdl_keras.evaluation.bounded_mean import BoundedMean

RNG = np.random.default_rng(0)
SIZE = 600
LABELS = RNG.integers(2, size=SIZE)
AMOUNT = RNG.uniform(10, 100, size=SIZE)
AFFINE = AffineCosts(AMOUNT, per_unit=[[0, 0], [1, 0]], fixed=[[0, 5], [0, 5]])
MATRICES = np.array([[[0, 5], [amount, 5]] for amount in AMOUNT])
GOOD = np.where(RNG.uniform(size=SIZE) < 0.1, 1 - LABELS, LABELS)
TODAY = (AMOUNT > 60).astype(int)
FREE = np.array([[0.0, 1.0], [9.0, 0.0]])
DEAR = np.array([[0.0, 8.0], [9.0, 0.0]])  # The model is better than any constant.


def report_of(y_true, costs, **others):
    return cost_report({"model": GOOD}, y_true, costs, baseline=TODAY, **others)


@pytest.mark.parametrize("form", ["affine", "vectors", "matrix"])
def test_every_form_of_costs_against_a_loop(form):
    matrices = np.tile(FREE, (SIZE, 1, 1)) if form == "matrix" else MATRICES
    given = {"affine": AFFINE, "vectors": None, "matrix": FREE}[form]
    vectors = np.array([matrices[n][y] for n, y in enumerate(LABELS)])
    y_true = vectors if form == "vectors" else LABELS
    report = report_of(y_true, given)
    totals = [sum(matrices[n][y][k] for n, y in enumerate(LABELS)) for k in (0, 1)]
    assert report.constant_decision == int(np.argmin(totals))
    always = np.full(SIZE, report.constant_decision)
    (model,) = report.rows
    for row, own in ((model, GOOD), (report.baseline, TODAY), (report.constant, always)):
        paid = [matrices[n][y][d] for n, (y, d) in enumerate(zip(LABELS, own, strict=True))]
        np.testing.assert_allclose([row.total_cost, row.average_cost], [sum(paid), np.mean(paid)])
        np.testing.assert_allclose(row.normalized_cost, sum(paid) / min(totals))
        np.testing.assert_allclose((row.low, row.high), cost_interval(y_true, own, given))
    assert model.against_baseline == compare_costs(y_true, GOOD, TODAY, given)
    assert model.against_constant == compare_costs(y_true, GOOD, always, given)
    assert report.baseline.against_constant == compare_costs(y_true, TODAY, always, given)
    assert report.baseline.against_baseline is None and report.constant.against_constant is None
    assert json.loads(json.dumps(dataclasses.asdict(report)))["rows"][0]["name"] == "model"


@hypothesis.settings(max_examples=25)
@hypothesis.given(st.integers(0, 10**6), st.sampled_from([(2, 3), (12, 2, 3)]))
def test_amounts_differ_from_regret_by_a_constant_alone(seed, shape):
    rng = np.random.default_rng(seed)
    money = rng.uniform(-50, 50, size=shape)
    labels, own, today = rng.integers(2, size=12), *rng.integers(3, size=(2, 12))
    of_each = money[labels] if money.ndim == 2 else money[np.arange(12), labels]
    real = cost_report({"a": own}, labels, amounts=money, baseline=today)
    beyond = cost_report({"a": own}, regret(of_each), baseline=today)
    shift = of_each.min(axis=1).mean()
    for row, other in zip(real.all_rows, beyond.all_rows, strict=True):
        np.testing.assert_allclose(row.average_cost, other.average_cost + shift, atol=1e-9)
        for name in ("against_baseline", "against_constant"):
            pair, same = getattr(row, name), getattr(other, name)
            assert (pair is None) == (same is None)
            if pair is not None:
                np.testing.assert_allclose(pair.difference, same.difference, atol=1e-9)
                rival = today if name == "against_baseline" else real.constant_decision
                ratio = row.average_cost / of_each[np.arange(12), rival].mean()
                np.testing.assert_allclose(pair.ratio, ratio, rtol=1e-9)
    paid = of_each[np.arange(12), own]
    np.testing.assert_allclose(real.rows[0].total_cost, paid.sum(), atol=1e-9)
    if money.ndim == 2:
        ends = BoundedMean(paid, money.min(), money.max()).interval()
        np.testing.assert_allclose((real.rows[0].low, real.rows[0].high), ends, atol=1e-6)
    for y in set(labels):
        np.testing.assert_allclose(real.rows[0].per_class[y], paid[labels == y].mean(), atol=1e-9)
    assert real.has_gains == (of_each < 0).any() and beyond.right_is_free and not beyond.has_gains
    assert "counted from each example's cheapest" in str(beyond)
    assert np.isnan(real.rows[0].normalized_cost) == (real.constant.average_cost <= 0)
    assert "nan" not in str(real)


class TestSentence:
    def test_cheaper(self):
        report = report_of(LABELS, DEAR * 1000, unit="€")
        pair = report.rows[0].against_baseline
        low, high = rounded(-pair.high, 0), rounded(-pair.low, 0)
        assert report.sentence == (
            f"model costs {rounded(-pair.difference, 0)} € less per decision than today's rule "
            f"(95 % interval {low} to {high} €), {rounded(-pair.difference * SIZE, -4)} € over "
            "these 600 decisions."
        )
        assert " ".join(str(report).split()).endswith(report.sentence)

    def test_costlier_and_a_constant_that_is_better_still(self):
        bad = {"bad": 1 - LABELS, "worse": np.zeros(SIZE, int)}
        report = cost_report(bad, LABELS, FREE, baseline=LABELS)
        assert report.sentence.startswith("worse, the cheapest of 2 here, costs")
        assert "more per decision than today's rule (95 % interval " in report.sentence
        assert "; always deciding 1 would have cost " in report.sentence
        assert report.sentence.endswith(" less per decision than the model.")

    def test_uncertain(self):
        today = np.where(np.arange(SIZE) == 3, 1 - GOOD, GOOD)
        for given, start in ((today, " per decision than"), (GOOD, "model costs as much as")):
            text = cost_report({"model": GOOD}, LABELS, DEAR, baseline=given, unit="h").sentence
            assert start in text and text.endswith("which may be chance.")
            assert "0.00 " not in text and " h less to " in text and " h more)" in text

    def test_gains(self):
        money = [[0, 10], [40, -200]]
        report = cost_report({"model": LABELS}, LABELS, amounts=money, baseline=TODAY, unit="$")
        assert report.sentence.startswith("model yields ") and " $ more per decision" in (
            report.sentence
        )
        assert (
            "Negative costs are gains." in " ".join(str(report).split())
            and report.rows[0].total_cost < 0
        )
        text = cost_report({"model": TODAY}, LABELS, amounts=money, baseline=LABELS).sentence
        assert " less per decision than today's rule" in text
        assert "always deciding 1 would have yielded" in text and "more per decision than" in text


@pytest.mark.parametrize(
    "value, text",
    [
        (0.0, "0"),
        (1234567.8, "1,234,568"),
        (-2.5, "-2.5"),
        (0.0123456, "0.01235"),
        (1e-9, "1e-09"),
        (3e20, "3e+20"),
        (float("nan"), "–"),
    ],
)
def test_numbers_for_people(value, text):
    assert number(value) == text
