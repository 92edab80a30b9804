"""Tests of cost matrices of experiments, against loops."""

import numpy as np
import pytest

from csdl_keras import costs


class TestGenerators:
    @pytest.mark.parametrize("size", [2, 5])
    def test_zero_one(self, size):
        expected = [[0.0 if y == k else 1.0 for k in range(size)] for y in range(size)]
        np.testing.assert_array_equal(costs.zero_one(size), expected)

    @pytest.mark.parametrize("size", [1, 0, -3, 2.0, "2", None, True])
    def test_num_classes_of_less_than_2(self, size):
        with pytest.raises(ValueError, match="num_classes"):
            costs.zero_one(size)

    @pytest.mark.parametrize(("scale", "seed"), [(10.0, 0), (2000, 7)])
    def test_randomized_proportional(self, scale, seed):
        labels = np.array([0] * 5 + [1] * 2 + [2] * 9 + [3])
        uniform = np.random.default_rng(seed).uniform(size=(4, 4))
        counts = [5, 2, 9, 1]
        expected = np.zeros((4, 4))
        for y in range(4):
            for k in range(4):
                if k != y:
                    expected[y, k] = uniform[y, k] * scale * counts[k] / counts[y]
        result = costs.randomized_proportional(labels, scale=scale, seed=seed)
        assert result.dtype == np.float64
        np.testing.assert_allclose(result, expected, rtol=1e-12)
        shuffled = np.random.default_rng(1).permutation(labels).tolist()
        again = costs.randomized_proportional(shuffled, num_classes=4, scale=scale, seed=seed)
        np.testing.assert_array_equal(again, result)

    def test_randomized_proportional_without_seed_varies(self):
        first, second = (costs.randomized_proportional([0, 1, 2]) for _ in range(2))
        assert np.any(first != second)

    @pytest.mark.parametrize(
        ("labels", "arguments", "message"),
        [
            ([0, 2, 4], {}, r"none of class\(es\) \[1, 3\]"),
            ([0, 1], {"num_classes": 3}, r"none of class\(es\) \[2\]"),
            ([0, 1], {"scale": 0}, "scale"),
            ([0, 1], {"scale": -1.0}, "scale"),
            ([0, 1], {"scale": np.inf}, "scale"),
            ([0, 1], {"scale": np.nan}, "scale"),
            ([0, 0], {}, "num_classes"),
            ([0, 0], {"num_classes": 1}, "num_classes"),
            ([0, 1, 2], {"num_classes": 2}, "below 2"),
            ([0.0, 1.0], {}, "integer dtype"),
        ],
    )
    def test_randomized_proportional_errors(self, labels, arguments, message):
        with pytest.raises(ValueError, match=message):
            costs.randomized_proportional(labels, **arguments)
