"""Tests of scores of decisions, against loops and their bounds."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from csdl_keras.evaluation import (
    average_cost,
    cost_per_class,
    decision_costs,
    normalized_cost,
    savings,
)

C = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
WITH_ABSTAIN = np.hstack([C, np.full((3, 1), 0.75)])
LABELS = np.array([0, 1, 2, 2, 1, 0, 1])
DECISIONS = np.array([0, 0, 2, 1, 3, 1, 1])


@st.composite
def problems(draw):
    classes, extra = draw(st.integers(2, 5)), draw(st.integers(0, 2))
    size = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    matrix = rng.integers(0, 9, size=(classes, classes + extra)).astype(float)
    matrix[np.arange(classes), np.arange(classes)] = 0.0
    return rng.integers(classes, size=size), rng.integers(classes + extra, size=size), matrix


class TestScores:
    def test_loop(self):
        paid = [WITH_ABSTAIN[y][d] for y, d in zip(LABELS, DECISIONS, strict=True)]
        np.testing.assert_array_equal(decision_costs(LABELS, DECISIONS, WITH_ABSTAIN), paid)
        assert average_cost(LABELS, DECISIONS, WITH_ABSTAIN) == np.mean(paid)
        constant = min(sum(WITH_ABSTAIN[y][k] for y in LABELS) for k in range(4))
        np.testing.assert_allclose(
            normalized_cost(LABELS, DECISIONS, WITH_ABSTAIN), sum(paid) / constant
        )
        per_class = [
            np.mean([cost for cost, y in zip(paid, LABELS, strict=True) if y == k])
            for k in range(3)
        ]
        np.testing.assert_allclose(cost_per_class(LABELS, DECISIONS, WITH_ABSTAIN), per_class)

    def test_cost_vectors(self):
        vectors = WITH_ABSTAIN[LABELS]
        for score in (average_cost, normalized_cost, savings):
            assert score(vectors, DECISIONS) == score(LABELS, DECISIONS, WITH_ABSTAIN)

    @hypothesis.given(problems())
    def test_bounds(self, problem):
        labels, decisions, matrix = problem
        cost = average_cost(labels, decisions, matrix)
        assert 0 <= cost <= matrix.max()
        assert average_cost(labels, labels, matrix) == 0
        constant = matrix[labels].mean(axis=0).min()
        if constant:
            np.testing.assert_allclose(cost, normalized_cost(labels, decisions, matrix) * constant)
            assert savings(labels, labels, matrix) == 1
            best = np.full(len(labels), matrix[labels].sum(axis=0).argmin())
            np.testing.assert_allclose(normalized_cost(labels, best, matrix), 1)
        else:
            with pytest.raises(ValueError, match="costs nothing"):
                normalized_cost(labels, decisions, matrix)

    @hypothesis.given(problems())
    def test_classes_make_up_the_average(self, problem):
        labels, decisions, matrix = problem
        shares = np.bincount(labels, minlength=len(matrix)) / len(labels)
        per_class = cost_per_class(labels, decisions, matrix)
        assert np.isnan(per_class).tolist() == (shares == 0).tolist()
        total = np.sum(shares * np.nan_to_num(per_class))
        np.testing.assert_allclose(total, average_cost(labels, decisions, matrix))

    @pytest.mark.parametrize("score", [average_cost, normalized_cost, savings, decision_costs])
    def test_what_it_refuses(self, score):
        with pytest.raises(ValueError, match="no matrix"):
            score(LABELS, DECISIONS)
        with pytest.raises(ValueError, match="below 3"):
            score(LABELS, DECISIONS, C)
        with pytest.raises(ValueError, match="`decisions` of shape"):
            score(LABELS, DECISIONS[:-1], WITH_ABSTAIN)
        with pytest.raises(ValueError, match="`labels`"):
            score(LABELS + 1, DECISIONS, WITH_ABSTAIN)
