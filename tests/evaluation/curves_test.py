import numpy as np
import pandas as pd
import pytest

from csdl_keras import bayes_decisions
from csdl_keras.evaluation import average_cost, cost_curve, decision_curve, net_benefit
from csdl_keras.evaluation.bounded_mean import BoundedMean

# Patients 1 to 14, 16, 28, 36 and 43 of `df_binary`, the example data of the packages dcurves of R
# and Python (Sjoberg, Vickers; Apache License 2.0): labels `cancer`, probabilities
# `cancerpredmarker`, and the net benefits that dcurves 1.1.7 of Python finds for them.
CANCER = np.array([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1])
MARKER = """
    0.0372006 0.5789074 0.0215508 0.0039097 0.01879 0.0426375 0.2962621 0.3872923 0.0372536
    0.0320365 0.0380078 0.0273008 0.0619617 0.0267902 0.4535079 0.0332257 0.5671918 0.3923274
"""
MARKER = np.array(MARKER.split(), float)
GRID = [0.05, 0.1, 0.2, 0.35, 0.5]
BENEFIT = [0.21345029239766, 0.20987654320988, 0.19444444444444, 0.19230769230769, 0.0]
OF_ALL = [0.29824561403509, 0.25925925925926, 0.16666666666667, -0.02564102564103, -1 / 3]
RNG = np.random.default_rng(0)
Y = RNG.integers(3, size=90)
P = RNG.dirichlet(np.ones(3), size=90) * 0.6 + 0.4 * np.eye(3)[Y]
C = np.array([[0.0, 1.0, 2.0, 0.5], [9.0, 0.0, 3.0, 0.5], [4.0, 7.0, 0.0, 0.5]])


class TestDecisionCurve:
    def test_net_benefit_of_dcurves(self):
        curve = decision_curve(CANCER == 1, {"model": pd.Series(MARKER)}, GRID)
        np.testing.assert_allclose(curve.net_benefit["model"], BENEFIT, atol=1e-13)
        np.testing.assert_allclose(curve.treat_all, OF_ALL, atol=1e-13)

    def test_net_benefit_against_a_literal_loop(self):
        y, p = RNG.integers(2, size=60) > 0, RNG.integers(11, size=60) / 10
        grid = [0.9, 0.0, 0.1, 0.3, 0.55]
        for t, found in zip(grid, net_benefit(y, p, grid), strict=True):
            decided = [true for true, own in zip(y, p, strict=True) if own >= t]
            total = sum(1 if true else -t / (1 - t) for true in decided)
            assert found == pytest.approx(total / 60)

    def test_one_class_against_the_rest(self):
        curve = decision_curve(Y, {"rows": P}, positive=2)
        np.testing.assert_array_equal(curve.thresholds, [k / 100 for k in range(1, 100)])
        expected = net_benefit(Y == 2, P[:, 2], curve.thresholds)
        np.testing.assert_array_equal(curve.net_benefit["rows"], expected)
        # At 0.5, net benefits lie between -1 and 1.
        values = (P[:, 2] >= 0.5) * np.where(Y == 2, 1.0, -1.0)
        ends = curve.low["rows"][49], curve.high["rows"][49]
        assert ends == pytest.approx(BoundedMean(values, -1.0, 1.0).interval())

    @pytest.mark.parametrize("other", ["other", "treat all", "treat none", "model"])
    def test_area(self, other):
        grid = np.array([0.05, 0.1, 0.25, 0.3])
        models = {"model": P[:, 0], "other": np.round(P[:, 0], 1) ** 2}
        curve = decision_curve(Y, models, grid[::-1], positive=0)
        rival = curve.net_benefit | {"treat all": curve.treat_all, "treat none": curve.treat_none}
        gap = curve.net_benefit["model"] - rival[other]
        expected = sum(np.diff(grid) * (gap[1:] + gap[:-1]) / 2)
        area = curve.area("model", other)
        assert area.difference == pytest.approx(expected, abs=1e-15)
        assert area.low < area.difference < area.high

    def test_intervals_contain_what_is_expected(self):
        rng, grid, held = np.random.default_rng(1), np.array([0.1, 0.2, 0.3]), []
        # Of those with a probability of .25, a half, 10 % are true; 5 % of those with .15.
        true, false = np.array([0.075, 0.05, 0.0]), np.array([0.925, 0.45, 0.0])
        expected = true - false * grid / (1 - grid)
        area = 0.05 * expected[0] + 0.1 * expected[1]
        for _ in range(30):
            high = rng.uniform(size=200) < 0.5
            y = rng.uniform(size=200) < np.where(high, 0.1, 0.05)
            curve = decision_curve(y, {"it": np.where(high, 0.25, 0.15)}, grid, confidence=0.9)
            inside = (curve.low["it"] <= expected) & (expected <= curve.high["it"])
            found = curve.area("it")
            held.append([*inside, found.low <= area <= found.high])
        assert np.all(np.mean(held, axis=0) >= 0.8)

    def test_frame(self):
        curve = decision_curve(CANCER, {"model": MARKER}, GRID)
        frame = curve.to_frame().set_index(["model", "threshold"])
        expected = np.transpose(
            [curve.net_benefit["model"], curve.low["model"], curve.high["model"]]
        )
        np.testing.assert_array_equal(frame.loc["model", ["net_benefit", "low", "high"]], expected)
        np.testing.assert_array_equal(frame.loc["treat all", "net_benefit"], curve.treat_all)
        assert frame.low.isna().sum() == 2 * len(GRID)


class TestCostCurve:
    def test_identities_of_drummond_and_holte(self):
        """Fixed decisions have the line from (0, FPR) to (1, FNR); constants their envelope."""
        y, decisions = np.repeat([0, 1], [70, 30]), np.arange(100) % 4 == 0
        curve = cost_curve(y, {"fixed": decisions.astype(int)})
        fpr, fnr = decisions[:70].mean(), 1 - decisions[70:].mean()
        values = np.linspace(0, 1, 51)
        np.testing.assert_allclose(curve.values, values)
        np.testing.assert_allclose(curve.costs["fixed"], fpr + (fnr - fpr) * values)
        np.testing.assert_allclose(curve.trivial, np.minimum(values, 1 - values), atol=1e-15)
        assert curve.trivial_decisions[[10, 40]].tolist() == [0, 1]

    def test_bayes_decisions_have_the_lower_envelope_of_all_thresholds(self):
        """If in the sample each probability is the share of class 1."""
        p = np.repeat([0.1, 0.4, 0.8], 20)
        y = np.concatenate([np.arange(20) < 20 * share for share in (0.1, 0.4, 0.8)])
        models = {"bayes": np.stack([1 - p, p], axis=1)}
        models |= {str(t): (p >= t).astype(int) for t in (0, 0.4, 0.8, 1)}
        costs = cost_curve(y, models, values=np.linspace(0, 1, 11)).costs
        envelope = np.min([costs[name] for name in models if name != "bayes"], axis=0)
        np.testing.assert_allclose(costs["bayes"], envelope, atol=1e-12)

    def test_prevalence_against_weighted_examples(self):
        fixed, grid = P.argmax(axis=1), [0.0, 0.1, 0.5, 1.0]
        curve = cost_curve(Y, {"p": P, "fixed": fixed}, C, ("prevalence", 1), grid)
        shares = [np.mean(Y == k) for k in range(3)]
        for m, v in enumerate(grid):
            new = [s * (1 - v) / (1 - shares[1]) for s in shares]
            new[1] = v
            weights = [new[k] / shares[k] / 90 for k in Y]
            bayes = (P * new / shares @ C).argmin(axis=1)
            worst = sum(w * max(C[k]) for w, k in zip(weights, Y, strict=True))
            for name, decisions in (("p", bayes), ("fixed", fixed)):
                paid = [w * C[k, d] for w, k, d in zip(weights, Y, decisions, strict=True)]
                assert curve.costs[name][m] == pytest.approx(sum(paid) / worst)
            constant = [sum(w * C[k, d] for w, k in zip(weights, Y, strict=True)) for d in range(4)]
            assert curve.trivial[m] == pytest.approx(min(constant) / worst)
            assert curve.trivial_decisions[m] == int(np.argmin(constant))

    def test_one_cost(self):
        fixed = P.argmax(axis=1)
        curve = cost_curve(Y, {"p": P, "fixed": fixed}, C, (1, 0))
        np.testing.assert_allclose(curve.values, np.linspace(0, 18, 51))
        for m in (0, 25, 50):
            matrix = C.copy()
            matrix[1, 0] = curve.values[m]
            worst = np.mean(matrix.max(axis=1)[Y])
            expected = average_cost(Y, bayes_decisions(P, matrix), matrix) / worst
            assert curve.costs["p"][m] == pytest.approx(expected)
        assert len(curve.to_frame()) == 3 * 51 and curve.label == "cost C[1, 0]"
        # The middle one is the given matrix, where no decision costs more than 9.
        worst = np.mean(C.max(axis=1)[Y])
        expected = BoundedMean(C[Y, fixed] / worst, 0.0, 9.0 / worst).interval(1 - 0.05 / 51)
        assert (curve.low["fixed"][25], curve.high["fixed"][25]) == pytest.approx(expected)
        assert cost_curve([0, 1], {"wrong": [1, 0]}).high["wrong"].max() == 1.0
        # Where no decision costs anything, nor do those of a model.
        free = cost_curve([0, 1], {"it": [1, 1]}, [[0, 0], [1, 0]], (1, 0), [0.0, 2.0])
        assert free.costs["it"].tolist() == [0.0, 0.0] and free.high["it"][0] == 0.0


HALF, TWO = [0.2, 0.9, 0.4], [[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]]
REFUSED = [
    (net_benefit, ([0, 1, 0], [0.2, 1.9, 0.4], [0.1]), r"lie in \[0, 1\].*logits"),
    (net_benefit, ([0, 0, 0], HALF, [0.1]), "0 examples of the positive class and 3 others"),
    (decision_curve, ([0, 1, 0], {"a": HALF}, [0.1, 1.0]), "at least 0 and below 1"),
    (decision_curve, ([0, 1, 2], {"a": TWO}), "below 2"),
    (cost_curve, ([0, 0, 0], {"a": [0, 0, 0]}), "is 0, which cannot vary"),
    (cost_curve, ([0, 1, 0], {"a": [0, 1, 0]}, C[:2, :2]), "cannot be combined"),
    (cost_curve, ([0, 1, 0], {"a": TWO}, C, (0, 1)), r"\(N, 3\)"),
    (cost_curve, ([0, 1, 0], {"a": [0, 1, 0]}, C, (1, 1)), "place of a mistake"),
]


@pytest.mark.parametrize("function, arguments, message", REFUSED)
def test_refused(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments)
