"""Intervals of costs of each example: by the largest possible amount, or by those seen."""

import math

import numpy as np
import pytest

from csdl_keras.costs import AffineCosts
from csdl_keras.evaluation import compare_costs, cost_interval, cost_report, decision_costs
from csdl_keras.evaluation._report_text import number
from csdl_keras.evaluation.bounded_mean import BoundedMean
from csdl_keras.evaluation.intervals import CostBounds

RNG = np.random.default_rng(0)
SIZE = 80
LABELS, OWN, OTHER = RNG.integers(2, size=(3, SIZE))
AMOUNT = RNG.lognormal(3.0, 1.5, SIZE)
AFFINE = AffineCosts(AMOUNT, per_unit=[[0, 0], [1, 0]], fixed=[[0, 5], [0, 5]])
MATRICES = np.array([[[0, 5], [amount, 5]] for amount in AMOUNT])
VECTORS = MATRICES[np.arange(SIZE), LABELS]
MATRIX = np.array([[0.0, 8.0], [90.0, 0.0]])
GAINS = np.array([[[0, 4], [0, 4 - amount]] for amount in AMOUNT])
GIVEN = {
    "vectors": (VECTORS, None),
    "matrices": (LABELS, MATRICES),
    "affine": (LABELS, AFFINE),
    "matrix": (LABELS, MATRIX),
    "constant vectors": (np.full((SIZE, 2), 4.0), None),
}


def bound_by_loop(values):
    """The bound of new values, in plain Python."""
    smallest = min(values)
    excess = sorted((v - smallest for v in values if v > smallest), reverse=True)
    if not excess:
        return smallest
    count = min(round(2 * math.sqrt(len(values))), len(excess) - 1)
    if count == 0:
        return smallest + 8 * excess[0]
    hill = sum(math.log(excess[i] / excess[count]) for i in range(count)) / count
    # The estimate is the index times a Gamma variable with that shape and mean 1.
    drawn = np.random.default_rng(0).gamma(count, 1 / count, 400_000)
    index = hill / float(np.quantile(drawn, 0.05))
    return smallest + excess[0] / (1 - min(index, 7 / 8))


def share_by_loop(values, amounts):
    """The upper limit of the share of the largest amounts that is paid, in plain Python."""
    border = sorted(amounts)[-round(math.sqrt(len(amounts)))]
    shares = [abs(v) / a for v, a in zip(values, amounts, strict=True) if a >= border and a > 0]
    paid, free = sum(shares), len(shares) - sum(shares)
    if free < 1e-6:
        return 1.0
    return float(np.quantile(np.random.default_rng(0).beta(paid + 1, free, 400_000), 0.95))


class TestJudgedBounds:
    @pytest.mark.parametrize("size", [1, 2, 30, 400])
    @pytest.mark.parametrize("kind", ["heavy", "ties", "few", "far from 0", "free"])
    @pytest.mark.parametrize("wrong", [0.0, 0.5, 1.0])
    def test_equal_the_loop(self, size, kind, wrong):
        rng = np.random.default_rng(size)
        values = {
            "heavy": rng.lognormal(0, 2, size),
            "ties": rng.choice([0.0, 1.0, 9.0], size=size),
            "few": rng.lognormal(0, 1, size) * (rng.uniform(size=size) < 0.1),
            "far from 0": 1000.0 + rng.exponential(size=size),
            "free": np.zeros(size),
        }[kind]
        bounds = CostBounds(np.stack([values, np.zeros(size)], axis=1), None, None)
        paid = values * (rng.uniform(size=size) < wrong)
        beyond = share_by_loop(paid, values) * bound_by_loop(values)
        expected = max(values.max(), beyond)
        assert bounds.of_costs(paid) == (0.0, pytest.approx(expected, rel=0.02))
        assert bounds.of_differences(-paid) == pytest.approx(expected, rel=0.02)
        assert bounds.largest_seen == values.max()

    def test_of_gains_are_not_0(self):
        ends = []
        for money, own in ((GAINS, OWN), (-GAINS[..., ::-1], 1 - OWN)):
            (row,) = cost_report({"a": own}, LABELS, amounts=money).rows
            paid = money[np.arange(SIZE), LABELS, own]
            assert row.low < BoundedMean(paid, money.min(), money.max()).interval()[0] + 1e-9
            ends.append((row.low, row.high))
        assert ends[0] == pytest.approx((-ends[1][1], -ends[1][0]))

    @pytest.mark.parametrize("matrix", [MATRIX, [[0, 1, 0.5], [9, 0, 0.5]]])
    def test_a_matrix_is_its_own_bound(self, matrix):
        matrix = np.asarray(matrix, float)
        labels = np.arange(40) % len(matrix)
        decisions, others = labels[::-1] % len(matrix), np.zeros(40, int)
        paid, rival = matrix[labels, decisions], matrix[labels, others]
        exact = BoundedMean(paid, 0.0, matrix.max())
        assert cost_interval(labels, decisions, matrix) == exact.interval()
        pair = compare_costs(labels, decisions, others, matrix)
        spread = max(max(row) - min(row) for row in matrix)
        assert (pair.low, pair.high) == BoundedMean(paid - rival, -spread, spread).interval()
        for costs in ({"cost_matrix": matrix}, {"amounts": matrix}):
            report = cost_report({"a": decisions}, labels, **costs)
            assert (report.rows[0].low, report.rows[0].high) == exact.interval()
            assert "largest amount" not in " ".join(str(report).split())

    def test_hold_with_heavy_tails(self):
        """Before, with the largest amount seen as the bound, .65 of intervals held."""
        rng, holds, called = np.random.default_rng(1), [], []
        mean, wrong, fee = np.exp(2.5**2 / 2), np.ones(30, int), np.full(30, 2)
        for _ in range(200):
            heavy = rng.lognormal(0, 2.5, 30)
            vectors = np.stack([np.zeros(30), heavy, np.full(30, mean)], axis=1)
            low, high = cost_interval(vectors, wrong)
            holds.append(low <= mean <= high)
            pair = compare_costs(vectors, wrong, fee)
            assert (pair.p_value < 0.05) == (pair.cheaper or pair.costlier)
            called.append(pair.p_value < 0.05)
        assert np.mean(holds) >= 0.93 and np.mean(called) <= 0.05


class TestLargest:
    @pytest.mark.parametrize("form", GIVEN)
    def test_it_is_the_bound(self, form):
        y_true, costs = GIVEN[form]
        paid, rival = (decision_costs(y_true, each, costs) for each in (OWN, OTHER))
        largest = 2 * AMOUNT.max() + 90.0
        interval = BoundedMean(paid, 0.0, largest).interval()
        assert cost_interval(y_true, OWN, costs, largest=largest) == pytest.approx(interval)
        differences = BoundedMean(paid - rival, -largest, largest)
        pair = compare_costs(y_true, OWN, OTHER, costs, largest)
        assert (pair.low, pair.high) == pytest.approx(differences.interval())
        assert pair.p_value == pytest.approx(differences.p_value(0.0))
        report = cost_report({"a": OWN}, y_true, costs, baseline=OTHER, largest=largest)
        assert (report.rows[0].low, report.rows[0].high) == pytest.approx(interval)
        assert report.rows[0].against_baseline == pair
        assert "largest amount" not in " ".join(str(report).split()) and report.largest_seen is None

    def test_larger_amounts_raise(self):
        for call in (
            lambda largest: cost_interval(LABELS, OWN, AFFINE, largest=largest),
            lambda largest: compare_costs(LABELS, OWN, OTHER, AFFINE, largest),
            lambda largest: cost_report({"a": OWN}, LABELS, AFFINE, largest=largest),
        ):
            call(AMOUNT.max())
            with pytest.raises(ValueError, match=f"{AMOUNT.max():g} exceeds `largest`"):
                call(AMOUNT.max() * 0.999)


@pytest.mark.parametrize("form", ["vectors", "affine", "gains"])
def test_report_says_what_intervals_rest_on(form):
    y_true, costs = GIVEN.get(form, (LABELS, GAINS))
    costs = {"amounts" if form == "gains" else "cost_matrix": costs}
    report = cost_report({"a": OWN}, y_true, **costs, unit="€")
    amounts = {"vectors": VECTORS, "gains": GAINS}.get(form, MATRICES)
    largest = np.abs(amounts).reshape(SIZE, -1).max(axis=1)
    share = np.sort(largest)[-10:].sum() / largest.sum()
    seen = f"largest amount seen, {number(largest.max())} €, "
    text = " ".join(str(report).split())
    assert seen in text
    assert f"the ten largest account for {number(100 * share, 2)} % of the total." in text
    assert report.largest_seen == largest.max() and report.ten_largest == pytest.approx(share)
