"""Tests of pooling and normalisation against Caffe's loops."""

import numpy as np
import pytest

from csdl_keras.layers import CaffePooling2D
from tests.layers.caffe_loops import pool
from tests.support.testing import TestCase

MODES = ("max", "average")
SIZES = [(28, 28), (7, 7), (3, 3), (2, 2), (8, 2)]
WINDOWS = [(1, 1), (4, 3), (5, 4)]


def images(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype("float32")


@pytest.mark.parametrize("mode", MODES)
class TestCaffePooling2D(TestCase):
    @pytest.mark.parametrize(
        ("size", "window"), [(size, (3, 2)) for size in SIZES] + [((11, 8), w) for w in WINDOWS]
    )
    def test_equals_loop(self, mode, size, window):
        # A maximum that saw padding of 0 would be 0, as all inputs are negative.
        x = -1.0 - np.abs(images(2, *size, 2))
        self.assertAllClose(CaffePooling2D(mode, *window)(x), pool(x, mode, *window))
