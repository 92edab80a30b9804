import numpy as np
import pytest

from csdl_keras.plots import cost_against_threshold
from tests.plots.baseline_image import assert_like_baseline, legend_of, line_of, star_of
from tests.plots.threshold_test import literal_cost

MATRIX = [[0, 1], [4, 0]]
RNG = np.random.default_rng(0)
Y_TRUE = RNG.integers(2, size=40)
PROBABILITIES = np.clip(RNG.uniform(size=40) * 0.7 + 0.3 * Y_TRUE, 0.0, 1.0)


class TestCostAgainstThreshold:
    def test_curve(self):
        axes = cost_against_threshold(Y_TRUE, PROBABILITIES, MATRIX, label="model")
        x, y = line_of(axes, "model")
        assert x[0] == 0.0 and x[-1] > 1.0
        np.testing.assert_array_equal(x[1:-1], np.sort(PROBABILITIES))
        for left, right, cost in zip(x, x[1:], y[1:], strict=False):
            for threshold in (right, 0.5 * (left + right)):
                expected = literal_cost(Y_TRUE, PROBABILITIES, MATRIX, threshold)
                assert cost == pytest.approx(expected)
        # From 0 on: the first step has no left end of its own.
        assert y[0] == y[1]
        (curve,) = [line for line in axes.get_lines() if line.get_label() == "model"]
        assert curve.get_drawstyle() == "steps-pre"

    def test_star(self):
        x, y = star_of(cost_against_threshold(Y_TRUE, PROBABILITIES, MATRIX))
        grid = np.append(PROBABILITIES, 2.0)
        costs = [literal_cost(Y_TRUE, PROBABILITIES, MATRIX, t) for t in grid]
        assert y == pytest.approx(min(costs))
        assert literal_cost(Y_TRUE, PROBABILITIES, MATRIX, x) == pytest.approx(min(costs))

    @pytest.mark.parametrize(
        "matrix, threshold",
        [([[0, 1], [9, 0]], 0.1), ([[0, 3], [1, 0]], 0.75), ([[0, 0], [2, 0]], 0.0)],
    )
    def test_bayes_threshold(self, matrix, threshold):
        axes = cost_against_threshold(Y_TRUE, PROBABILITIES, matrix)
        x, _ = line_of(axes, f"Bayes threshold {threshold:g}")
        assert list(x) == [threshold, threshold]

    def test_one_bayes_threshold_for_several_curves(self):
        axes = cost_against_threshold(Y_TRUE, PROBABILITIES, MATRIX, label="a")
        cost_against_threshold(Y_TRUE, PROBABILITIES**2, MATRIX, ax=axes, label="b")
        words = legend_of(axes)
        assert [word.split(":")[0] for word in words] == [
            "Bayes threshold 0.2",
            "a",
            "lowest",
            "b",
            "lowest",
        ]

    def test_nothing_costs_anything(self):
        axes = cost_against_threshold([0, 1], [0.2, 0.7], np.zeros((2, 2)))
        assert legend_of(axes) == ["lowest: 0 at 0.2"]

    def test_never_is_best(self):
        axes = cost_against_threshold([0, 0], [0.2, 1.0], MATRIX)
        assert legend_of(axes)[1] == "lowest: 0 above every probability"
        x, y = star_of(axes)
        assert x > 1.0 and y == 0.0

    def test_refused(self):
        with pytest.raises(ValueError, match="Expected .*received"):
            cost_against_threshold([0, 1], [0.2, 2.0], MATRIX)

    def test_image(self, tmp_path):
        assert_like_baseline(
            lambda ax: cost_against_threshold(Y_TRUE, PROBABILITIES, MATRIX, ax=ax),
            "cost_against_threshold",
            tmp_path,
        )
