"""Tests of scores of decisions, against loops and their bounds."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from csdl_keras.evaluation import (
    average_cost,
    cost_per_class,
    decision_costs,
    error_rate,
    normalized_cost,
    savings,
)

C = np.array([[0.0, 1.0, 4.0, 0.75], [9.0, 0.0, 2.0, 0.75], [0.5, 7.0, 0.0, 0.75]])
LABELS = np.array([0, 1, 2, 2, 1, 0, 1])
DECISIONS = np.array([0, 0, 2, 1, 3, 1, 1])


@st.composite
def problems(draw):
    classes, extra = draw(st.integers(2, 5)), draw(st.integers(0, 2))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    size = draw(st.integers(1, 12))
    matrix = rng.integers(0, 9, size=(classes, classes + extra)).astype(float)
    np.fill_diagonal(matrix, 0.0)
    return rng.integers(classes, size=size), rng.integers(classes + extra, size=size), matrix


class TestScores:
    def test_loop(self):
        paid = [C[y][d] for y, d in zip(LABELS, DECISIONS, strict=True)]
        np.testing.assert_array_equal(decision_costs(LABELS, DECISIONS, C), paid)
        assert average_cost(LABELS, DECISIONS, C) == np.mean(paid)
        constant = min(sum(C[y][k] for y in LABELS) for k in range(4))
        assert normalized_cost(LABELS, DECISIONS, C) == pytest.approx(sum(paid) / constant)
        per_class = [np.mean([paid[n] for n in np.flatnonzero(LABELS == y)]) for y in range(3)]
        np.testing.assert_allclose(cost_per_class(LABELS, DECISIONS, C), per_class)

    def test_error_rate(self):
        # Three of six decisions for a class.
        assert error_rate(LABELS, DECISIONS, C) == 0.5
        # Without labels, the decision to abstain is wrong as well.
        assert error_rate(C[LABELS], DECISIONS) == 4 / 7
        assert np.isnan(error_rate([0], [3], C))

    @hypothesis.given(problems())
    def test_bounds_and_averages_of_classes(self, problem):
        labels, decisions, matrix = problem
        cost = average_cost(labels, decisions, matrix)
        assert 0 <= cost <= matrix.max()
        assert average_cost(labels, labels, matrix) == 0
        counts = np.bincount(labels, minlength=len(matrix))
        per_class = cost_per_class(labels, decisions, matrix)
        np.testing.assert_array_equal(np.isnan(per_class), counts == 0)
        np.testing.assert_allclose(np.nansum(per_class * counts) / len(labels), cost)
        constant = matrix[labels].mean(axis=0)
        if constant.min():
            normalized = normalized_cost(labels, decisions, matrix)
            np.testing.assert_allclose(cost, normalized * constant.min())
            assert savings(labels, decisions, matrix) == 1 - normalized
            best = np.full(len(labels), constant.argmin())
            np.testing.assert_allclose(normalized_cost(labels, best, matrix), 1)
        else:
            with pytest.raises(ValueError, match="costs nothing"):
                normalized_cost(labels, decisions, matrix)
