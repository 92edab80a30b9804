"""Scores with a cost matrix for each example."""

import numpy as np

from csdl_keras import evaluation
from csdl_keras.costs import AffineCosts, cost_vectors

RNG = np.random.default_rng(0)
LABELS, DECISIONS, OTHER = RNG.integers(3, size=(3, 40))
AFFINE = AffineCosts(RNG.uniform(1, 100, size=40), 1 - np.eye(3), [[0, 2, 1], [5, 0, 1], [1, 1, 0]])
MATRICES = np.array([AFFINE.fixed + amount * AFFINE.per_unit for amount in AFFINE.amount])


def scores(y, matrix):
    curve = evaluation.risk_coverage_curve(y, MATRICES.mean(axis=1), matrix)
    pair = evaluation.compare_costs(y, DECISIONS, OTHER, matrix)
    return np.array(
        [
            *evaluation.decision_costs(y, DECISIONS, matrix),
            evaluation.normalized_cost(y, DECISIONS, matrix),
            pair.difference,
            pair.p_value,
            *np.ravel(curve),
        ]
    )


def test_they_are_those_of_the_labels_vectors():
    expected = scores(np.array([MATRICES[n, y] for n, y in enumerate(LABELS)]), None)
    np.testing.assert_array_equal(cost_vectors(MATRICES, LABELS)[7], MATRICES[7, LABELS[7]])
    # Bounds follow from all classes' costs and not from the true one's alone.
    for costs in (MATRICES, AFFINE):
        found = scores(LABELS, costs)
        np.testing.assert_allclose(np.delete(found, 42), np.delete(expected, 42), rtol=1e-9)
