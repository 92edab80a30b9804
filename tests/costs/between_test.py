"""Ranges of costs: the mean decides, the largest regret against every corner of the range."""

import itertools

import numpy as np
import pytest

import csdl_keras
from csdl_keras.costs import between

LOW, HIGH = [[0, 1, 2], [2, 0, 1], [1, 4, 0]], [[0, 3, 2], [9, 0, 4], [5, 4, 0]]
PROBABILITIES = np.random.default_rng(0).dirichlet(np.ones(3), 40)


def corners():
    """Every matrix whose costs are ends of their ranges."""
    ends = ({low, high} for low, high in zip(np.ravel(LOW), np.ravel(HIGH), strict=True))
    for corner in itertools.product(*ends):
        yield np.reshape(corner, (3, 3))


def test_regrets_are_the_largest_over_all_corners():
    expected = np.zeros((40, 3))
    for matrix in corners():
        costs = PROBABILITIES @ matrix
        expected = np.maximum(expected, costs - costs.min(axis=1, keepdims=True))
    np.testing.assert_allclose(between(LOW, HIGH).regrets(PROBABILITIES), expected, atol=1e-12)


def test_decisions_are_those_of_the_mean_or_of_the_least_regret():
    middle = (np.array(LOW) + HIGH) / 2
    by_mean = csdl_keras.bayes_decisions(PROBABILITIES, between(LOW, HIGH))
    np.testing.assert_array_equal(by_mean, (PROBABILITIES @ middle).argmin(axis=1))
    own = csdl_keras.bayes_decisions(PROBABILITIES, between(LOW, HIGH, mean=LOW))
    np.testing.assert_array_equal(own, (PROBABILITIES @ LOW).argmin(axis=1))
    robust = between(LOW, HIGH, robust=True)
    decisions = csdl_keras.bayes_decisions(PROBABILITIES, robust)
    np.testing.assert_array_equal(decisions, robust.regrets(PROBABILITIES).argmin(axis=1))
    assert (decisions != own).any()
    model = csdl_keras.models.mlp((4,), 3, (5,), seed=0)
    x = np.random.default_rng(1).normal(size=(40, 4))
    rows = model.predict(x, verbose=0)
    np.testing.assert_array_equal(
        csdl_keras.decide(model, x, costs=robust), robust.regrets(rows).argmin(axis=1)
    )


def test_the_report_says_how_much_the_range_leaves_open():
    costs = between(LOW, HIGH)
    labels = np.arange(40) % 3
    decisions = csdl_keras.bayes_decisions(PROBABILITIES, costs)
    report = csdl_keras.evaluation.cost_report(
        {"model": decisions}, labels, costs, probabilities={"model": PROBABILITIES}
    )
    regret = costs.regrets(PROBABILITIES)[np.arange(40), decisions]
    (remark,) = report.remarks
    assert f"{np.mean(regret > 0):.1%}" in remark and f"{regret.mean():.4g}" in remark
    mean = csdl_keras.evaluation.average_cost(labels, decisions, costs.mean)
    np.testing.assert_allclose(report.rows[0].average_cost, mean)


@pytest.mark.parametrize(
    "ends, words", (((HIGH, LOW), "at most"), ((LOW, [[0, 1], [1, 0]]), "same shape"))
)
def test_refusals(ends, words):
    with pytest.raises(ValueError, match=words):
        between(*ends)
