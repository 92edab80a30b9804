import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from csdl_keras.plots.cost_confusion import confusion_table


def literal_table(y_true, decisions, cost_matrix):
    counts = np.zeros(cost_matrix.shape, int)
    costs = np.zeros(cost_matrix.shape)
    for label, decision in zip(y_true, decisions, strict=True):
        counts[label, decision] += 1
        costs[label, decision] += cost_matrix[label, decision] / len(y_true)
    return counts, costs


class TestConfusionTable:
    @hypothesis.settings(max_examples=40)
    @hypothesis.given(st.integers(2, 5), st.integers(0, 2), st.integers(1, 30), st.integers(0, 99))
    def test_against_a_literal_loop(self, classes, extra, size, seed):
        rng = np.random.default_rng(seed)
        matrix = rng.uniform(0.1, 9.0, size=(classes, classes + extra))
        np.fill_diagonal(matrix, 0.0)
        y_true, decisions = (
            rng.integers(classes, size=size),
            rng.integers(classes + extra, size=size),
        )
        counts, costs = confusion_table(y_true, decisions, matrix)
        expected_counts, expected_costs = literal_table(y_true, decisions, matrix)
        np.testing.assert_array_equal(counts, expected_counts)
        np.testing.assert_allclose(costs, expected_costs)
        np.testing.assert_allclose(costs.sum(), matrix[y_true, decisions].mean())

    @pytest.mark.parametrize(
        "y_true, decisions, message",
        [
            ([0, 2], [0, 0], "below 2, the number of classes; received 2"),
            ([0.0, 1.0], [0, 0], "integer dtype; received float64"),
            ([0, 1], [0, 3], "below 3, the number of columns of `cost_matrix`; received 3"),
            ([0, 1], [0, -1], "`decisions` of at least 0.*received -1"),
            ([0, 1], [0], r"`decisions` of shape \(2,\).*received shape \(1,\)"),
            ([0, 1], [0.0, 1.0], "an integer for each label; .* dtype float64"),
            ([0, 1], [[0, 1], [1]], "rows of different lengths"),
            ([0, 1], [[0, 1], [1, 0]], r"`decisions` of shape \(2,\)"),
        ],
    )
    def test_refused(self, y_true, decisions, message):
        with pytest.raises(ValueError, match=f"Expected .*{message}"):
            confusion_table(y_true, decisions, [[0, 1, 0.5], [9, 0, 0.5]])
