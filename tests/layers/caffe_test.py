"""Tests of pooling and normalisation against Caffe's loops."""

import numpy as np
import pytest

from csdl_keras.layers import CaffePooling2D, WithinChannelLRN
from tests.layers.caffe_loops import pool, within_channel_lrn
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


class TestWithinChannelLRN(TestCase):
    @pytest.mark.parametrize("size", [1, 3, 5])
    @pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.75), (0.3, 2.0), (0.0, 0.75), (1.0, 0.0)])
    def test_equals_loop(self, size, alpha, beta):
        for shape in ((1, 4, 6, 2), (1, 1, 7, 1)):
            x = images(*shape)
            outputs = WithinChannelLRN(size, alpha, beta)(x)
            self.assertAllClose(outputs, within_channel_lrn(x, size, alpha, beta))
