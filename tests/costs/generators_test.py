"""Tests of cost matrices of experiments, against loops."""

import numpy as np
import pytest

from csdl_keras.costs import randomized_proportional


@pytest.mark.parametrize(("scale", "seed"), [(10.0, 0), (2000, 7)])
def test_randomized_proportional(scale, seed):
    labels = np.array([0] * 5 + [1] * 2 + [2] * 9 + [3])
    counts, uniform = [5, 2, 9, 1], np.random.default_rng(seed).uniform(size=(4, 4))
    expected = [
        [(y != k) * uniform[y, k] * scale * counts[k] / counts[y] for k in range(4)]
        for y in range(4)
    ]
    result = randomized_proportional(labels, scale=scale, seed=seed)
    np.testing.assert_allclose(result, expected, rtol=1e-12)
    again = randomized_proportional(labels[::-1].tolist(), num_classes=4, scale=scale, seed=seed)
    np.testing.assert_array_equal(again, result)
