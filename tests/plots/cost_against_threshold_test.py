import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from csdl_keras.plots import cost_against_threshold
from csdl_keras.plots.cost_against_threshold import threshold_table
from tests.plots.drawn import legend_of, line_of, star_of

MATRIX = [[0, 1], [4, 0]]
RNG = np.random.default_rng(0)
Y_TRUE = RNG.integers(2, size=40)
PROBABILITIES = np.clip(RNG.uniform(size=40) * 0.7 + 0.3 * Y_TRUE, 0.0, 1.0)


def literal_cost(y_true, probabilities, cost_matrix, threshold):
    decisions = [1 if probability >= threshold else 0 for probability in probabilities]
    return np.mean([cost_matrix[y][d] for y, d in zip(y_true, decisions, strict=True)])


class TestThresholdTable:
    @hypothesis.settings(max_examples=40)
    @hypothesis.given(
        st.integers(0, 99),
        st.integers(1, 25),
        st.sampled_from([[[0, 1], [9, 0]], [[0, 7], [0.5, 0]], [[0, 0], [2, 0]]]),
    )
    def test_against_a_literal_loop(self, seed, size, matrix):
        rng = np.random.default_rng(seed)
        y_true = rng.integers(2, size=size)
        probabilities = rng.choice([0.0, 0.1, 0.25, 0.3, 0.8, 1.0], size=size)
        thresholds, costs = threshold_table(y_true, probabilities, matrix)
        assert thresholds.tolist() == sorted(set(probabilities)) + [np.inf]
        # Between two thresholds, the cost of the higher one applies.
        for t in [*thresholds, *np.linspace(0.0, 1.2, 49)]:
            index = np.searchsorted(thresholds, t, side="left")
            assert costs[index] == pytest.approx(literal_cost(y_true, probabilities, matrix, t))


class TestCostAgainstThreshold:
    def test_curve(self):
        axes = cost_against_threshold(Y_TRUE, PROBABILITIES, MATRIX, label="model")
        x, y = line_of(axes, "model")
        thresholds, costs = threshold_table(Y_TRUE, PROBABILITIES, MATRIX)
        np.testing.assert_array_equal(x[:-1], [0.0, *thresholds[:-1]])
        # From 0 on: the first step has no left end of its own.
        np.testing.assert_array_equal(y, [costs[0], *costs])
        assert x[-1] > 1.0
        (curve,) = [line for line in axes.get_lines() if line.get_label() == "model"]
        assert curve.get_drawstyle() == "steps-pre"
        best = costs.argmin()
        assert star_of(axes) == (thresholds[best], costs[best])

    def test_one_bayes_threshold_for_several_curves(self):
        axes = cost_against_threshold(Y_TRUE, PROBABILITIES, MATRIX, label="a")
        cost_against_threshold(Y_TRUE, PROBABILITIES**2, MATRIX, ax=axes, label="b")
        words = [word.split(":")[0] for word in legend_of(axes)]
        assert words == ["Bayes threshold 0.2", "a", "lowest", "b", "lowest"]
