"""Changes that leave scores alone: order of examples, names of classes and the unit of costs."""

import hypothesis
import numpy as np
from hypothesis import strategies as st

from csdl_keras import evaluation


@st.composite
def problems(draw):
    """Labels, two models' decisions, some for no class, and a matrix with ties and free mistakes.

    Every class occurs, so that no constant decision is free and the largest costs of the
    matrix are those of its rows.
    """
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    classes, size, extra = draw(st.integers(2, 5)), draw(st.sampled_from([2, 60])), 1
    matrix = rng.choice([0.0, 0.5, 1.0, 1.0, 3.0, 40.0], size=(classes, classes + extra))
    matrix[:, -1] += 0.25
    matrix[0, 1:] += 0.5
    matrix[1:, 0] += 0.5
    np.fill_diagonal(matrix, 0.0)
    y = np.concatenate([np.arange(classes), rng.integers(classes, size=size)])
    drawn = rng.integers(classes + extra, size=(2, len(y)))
    return y, *np.where(rng.uniform(size=drawn.shape) < 0.6, y, drawn), matrix


def scores(y, decisions, other, matrix, unit=1.0, largest=None):
    """All scores of vectors or labels; those in the unit of costs are divided by `unit`."""
    pair = evaluation.compare_costs(y, decisions, other, matrix, largest)
    costs = [evaluation.average_cost(y, decisions, matrix), pair.difference, pair.low, pair.high]
    costs += evaluation.cost_interval(y, decisions, matrix, largest=largest)
    relative = evaluation.normalized_cost(y, decisions, matrix)
    return np.array([*np.divide(costs, unit), relative, pair.ratio, pair.p_value])


def class_scores(y, decisions, other, matrix, unit=1.0):
    """Scores of labels by class and in a report, except those in `scores`."""
    rows = evaluation.cost_report({"a": decisions, "b": other}, y, matrix).rows
    rates = [(row.name, row.error_rate, row.abstained) for row in rows]
    return evaluation.cost_per_class(y, decisions, matrix) / unit, sorted(rates)


def same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


@hypothesis.settings(max_examples=20)
@hypothesis.given(problems(), st.integers(0, 99), st.sampled_from([1e-6, 0.3, 7.0, 1e6]))
def test_order_of_examples_names_of_classes_and_unit_of_costs(problem, seed, unit):
    y, decisions, other, matrix = problem
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    classes = rng.permutation(len(matrix))
    # Decisions that are no class keep their index.
    columns = np.append(classes, np.arange(len(classes), matrix.shape[1]))
    names = np.argsort(columns)
    changed = (names[y[order]], names[decisions[order]], names[other[order]])
    renamed = matrix[classes][:, columns] * unit
    same(scores(*changed, renamed, unit), scores(*problem))
    per_class, rates = class_scores(*problem)
    found, found_rates = class_scores(*changed, renamed, unit)
    same(found, per_class[classes])
    assert found_rates == rates


@hypothesis.settings(max_examples=10)
@hypothesis.given(problems(), st.floats(0.0, 9.0))
def test_cost_vectors_with_a_constant(problem, constant):
    y, decisions, other, matrix = problem
    # The bounds of a matrix are known, those of vectors if they are given.
    same(scores(matrix[y], decisions, other, None, 1.0, matrix.max()), scores(*problem))
    # A part of costs that no decision saves widens intervals of costs, but not of differences.
    found = scores(matrix[y], decisions, other, None)[:4]
    moved = scores(matrix[y] + constant, decisions, other, None)[:4]
    same(moved - constant * np.array([1, 0, 0, 0]), found)
