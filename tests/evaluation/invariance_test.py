"""What may not change a score: the order of examples, names of classes, the unit of costs."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from csdl_keras import evaluation
from tests.robustness.outcome import public_functions


def reported(decisions, y, matrix):
    other = np.where(np.arange(len(decisions)) % 2 == 0, decisions, 0)
    rows = evaluation.cost_report({"a": decisions, "b": other}, y, matrix).rows
    return {
        row.name: (row.average_cost, row.low, row.high, row.normalized_cost, row.error_rate)
        for row in rows
    }


def compared(y, decisions, matrix):
    other = np.zeros_like(decisions)
    found = evaluation.compare_costs(y, decisions, other, matrix)
    # The p-value last: the only figure that has no unit.
    return np.array([found.difference, found.low, found.high]), found.p_value


#: Functions of labels, decisions and matrix, by how they follow the unit of costs.
LINEAR = {
    "average_cost": evaluation.average_cost,
    "cost_interval": evaluation.cost_interval,
    "compare_costs": lambda *problem: compared(*problem)[0],
}
FREE = {
    "normalized_cost": evaluation.normalized_cost,
    "savings": evaluation.savings,
    "error_rate": evaluation.error_rate,
    "compare_costs, p": lambda *problem: compared(*problem)[1],
}
BY_EXAMPLE = {"decision_costs": evaluation.decision_costs}
BY_CLASS = {"cost_per_class": evaluation.cost_per_class}
OF_REPORT = {
    "cost_report": lambda y, d, m: np.ravel([*dict(sorted(reported(d, y, m).items())).values()])
}
ELSEWHERE = {"calibration_error", "reliability", "risk_coverage_area", "risk_coverage_curve"}
SCORES = LINEAR | FREE | BY_CLASS | OF_REPORT


@st.composite
def problems(draw):
    """Labels, decisions (some for no class) and a matrix, with ties and free mistakes."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    classes, size = draw(st.integers(2, 5)), draw(st.sampled_from([2, 7, 60]))
    extra = draw(st.integers(0, 1))
    matrix = rng.choice([0.5, 1.0, 1.0, 3.0, 40.0], size=(classes, classes + extra))
    matrix[np.arange(classes), np.arange(classes)] = 0.0
    # Every class, so that no constant decision is free.
    y = np.concatenate([np.arange(classes), rng.integers(classes, size=size)])
    drawn = rng.integers(classes + extra, size=len(y))
    return y, np.where(rng.uniform(size=len(y)) < 0.6, y, drawn), matrix


def same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def test_every_function_is_here():
    names = {name.partition(",")[0] for name in SCORES | BY_EXAMPLE}
    assert names | ELSEWHERE == public_functions(evaluation)


@pytest.mark.parametrize("name", SCORES)
class TestScores:
    @hypothesis.settings(max_examples=20, deadline=None)
    @hypothesis.given(problem=problems(), seed=st.integers(0, 99))
    def test_order_of_examples(self, name, problem, seed):
        y, decisions, matrix = problem
        rng = np.random.default_rng(seed)
        if name.startswith(("compare_costs", "cost_report")):
            # Their rival depends on the place of an example; it is moved along.
            decisions, order = np.where(decisions == 0, 1, decisions), np.arange(len(y))
            order[::2], order[1::2] = rng.permutation(order[::2]), rng.permutation(order[1::2])
        else:
            order = rng.permutation(len(y))
        same(SCORES[name](y[order], decisions[order], matrix), SCORES[name](y, decisions, matrix))

    @hypothesis.settings(max_examples=20, deadline=None)
    @hypothesis.given(problem=problems(), factor=st.sampled_from([1e-6, 0.3, 7.0, 1e6]))
    def test_unit_of_costs(self, name, problem, factor):
        y, decisions, matrix = problem
        before, after = (SCORES[name](y, decisions, m) for m in (matrix, matrix * factor))
        if name in FREE:
            same(after, before)
        elif name == "cost_report":
            units = np.tile([factor, factor, factor, 1.0, 1.0], 2)
            same(np.divide(after, units), before)
        else:
            same(np.divide(after, factor), before)

    @hypothesis.settings(max_examples=20, deadline=None)
    @hypothesis.given(problem=problems(), seed=st.integers(0, 99))
    def test_names_of_classes(self, name, problem, seed):
        y, decisions, matrix = problem
        order = np.random.default_rng(seed).permutation(len(matrix))
        # What is no class keeps its name; and so does class 0, the rivals' decision.
        order = np.concatenate([[0], order[order != 0]])
        names = np.concatenate([np.argsort(order), np.arange(len(order), matrix.shape[1])])
        columns = np.concatenate([order, np.arange(len(order), matrix.shape[1])])
        renamed = matrix[order][:, columns]
        before, after = (
            SCORES[name](y, decisions, matrix),
            SCORES[name](names[y], names[decisions], renamed),
        )
        same(after, np.asarray(before)[order] if name in BY_CLASS else before)

    @hypothesis.settings(max_examples=20, deadline=None)
    @hypothesis.given(problem=problems())
    def test_cost_vectors_are_the_rows_of_the_matrix(self, name, problem):
        y, decisions, matrix = problem
        if name not in LINEAR and name not in ("normalized_cost", "savings", "compare_costs, p"):
            return
        # All rows occur, so that the largest costs are those of the matrix.
        same(SCORES[name](matrix[y], decisions, None), SCORES[name](y, decisions, matrix))


@hypothesis.settings(max_examples=20, deadline=None)
@hypothesis.given(problems(), st.floats(0.0, 9.0))
def test_a_constant_added_to_all_cost_vectors_moves_the_interval(problem, constant):
    y, decisions, matrix = problem
    before = evaluation.cost_interval(matrix[y], decisions)
    after = evaluation.cost_interval(matrix[y] + constant, decisions)
    same(np.subtract(after, constant), before)
    same(
        compared(matrix[y] + constant, decisions, None)[0], compared(matrix[y], decisions, None)[0]
    )


@pytest.mark.parametrize("name", SCORES | BY_EXAMPLE)
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -1.0])
def test_costs_that_are_none(name, wrong):
    matrix = np.array([[0.0, 1.0], [wrong, 0.0]])
    with pytest.raises(ValueError, match="Expected"):
        (SCORES | BY_EXAMPLE)[name](np.array([0, 1]), np.array([0, 1]), matrix)
    if name not in BY_CLASS and name != "cost_report":
        with pytest.raises(ValueError, match="Expected"):
            (SCORES | BY_EXAMPLE)[name](matrix, np.array([0, 1]), None)
