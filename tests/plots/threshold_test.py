import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from csdl_keras.plots.cost_against_threshold import threshold_table


def literal_cost(y_true, probabilities, cost_matrix, threshold):
    total = 0.0
    for label, probability in zip(y_true, probabilities, strict=True):
        total += cost_matrix[label][1 if probability >= threshold else 0]
    return total / len(y_true)


class TestThresholdTable:
    @hypothesis.settings(max_examples=60)
    @hypothesis.given(
        st.lists(
            st.tuples(st.integers(0, 1), st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.8, 1.0])),
            min_size=1,
            max_size=25,
        ),
        st.sampled_from([[[0, 1], [9, 0]], [[0, 7], [0.5, 0]], [[0, 0], [2, 0]]]),
    )
    def test_against_a_literal_loop(self, examples, matrix):
        y_true, probabilities = map(np.array, zip(*examples, strict=True))
        thresholds, costs = threshold_table(y_true, probabilities, matrix)
        assert thresholds.tolist() == sorted(set(probabilities)) + [np.inf]
        for threshold, cost in zip(thresholds, costs, strict=True):
            assert cost == pytest.approx(literal_cost(y_true, probabilities, matrix, threshold))
        # Between two thresholds, the higher one's cost holds.
        for t in np.linspace(0.0, 1.2, 49):
            index = np.searchsorted(thresholds, t, side="left")
            assert costs[index] == pytest.approx(literal_cost(y_true, probabilities, matrix, t))

    def test_shapes_of_probabilities(self):
        y_true, matrix = [0, 1, 1], [[0, 1], [9, 0]]
        scores = np.array([0.25, 0.5, 0.75], "float32")
        expected = threshold_table(y_true, scores, matrix)
        for same in (scores[:, None], np.stack([1 - scores, scores], axis=1)):
            for one, other in zip(threshold_table(y_true, same, matrix), expected, strict=True):
                np.testing.assert_array_equal(one, other)

    @pytest.mark.parametrize(
        "y_true, probabilities, matrix, message",
        [
            ([0, 1], [0.1, 1.5], [[0, 1], [9, 0]], "received values from 0.1 to 1.5"),
            ([0, 1], [0.1, -0.5], [[0, 1], [9, 0]], "at least 0; received -0.5"),
            ([0, 1], [0.1, np.nan], [[0, 1], [9, 0]], "finite.*; received nan"),
            ([0, 1], [0.1], [[0, 1], [9, 0]], "an entry for each of 2 labels"),
            ([0, 1], [[0.1, 0.2], [0.3, 0.7]], [[0, 1], [9, 0]], "sum to 1"),
            ([0, 1], np.full((2, 3), 1 / 3), [[0, 1], [9, 0]], "two classes"),
            ([0, 1], np.zeros((2, 1, 1)), [[0, 1], [9, 0]], r"received shape \(2, 1, 1\)"),
            ([0, 1], ["a", "b"], [[0, 1], [9, 0]], "real numbers"),
            ([0, 1], [[0.1], [0.2, 0.3]], [[0, 1], [9, 0]], "rows of different lengths"),
            ([0, 2], [0.1, 0.2], [[0, 1], [9, 0]], "below 2"),
            ([0, 1], [0.1, 0.2], 1 - np.eye(3), "a row for each of 2 classes"),
            ([0, 1], [0.1, 0.2], [[0, 1, 2], [9, 0, 2]], r"shape \(K, K\)"),
        ],
    )
    def test_refused(self, y_true, probabilities, matrix, message):
        with pytest.raises(ValueError, match=f"Expected .*{message}"):
            threshold_table(y_true, probabilities, matrix)
