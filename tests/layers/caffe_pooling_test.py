import keras
import numpy as np
import pytest

from csdl_keras.layers import CaffePooling2D
from tests.layers.caffe_loops import pool
from tests.support.gradients import gradient
from tests.support.testing import TestCase

MODES = ("max", "average")
SIZES = [(28, 28), (14, 14), (7, 7), (5, 5), (4, 4), (3, 3), (2, 2), (8, 2), (5, 12), (9, 7)]


def images(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype("float32")


class TestCaffePooling2D(TestCase):
    @pytest.mark.parametrize("mode", MODES)
    def test_contract(self, mode):
        self.run_layer_test(lambda: CaffePooling2D(mode), images(2, 7, 6, 3), (2, 3, 3, 3))

    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize("size", SIZES)
    def test_equals_loop(self, mode, size):
        x = images(2, *size, 2)
        self.assertAllClose(CaffePooling2D(mode)(x), pool(x, mode))

    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize(
        ("pool_size", "strides"), [(1, 1), (2, 1), (2, 2), (3, 1), (3, 3), (4, 3), (5, 2), (5, 4)]
    )
    @pytest.mark.parametrize("size", [(7, 5), (11, 8)])
    def test_equals_loop_for_other_windows(self, mode, pool_size, strides, size):
        x = images(1, *size, 2)
        outputs = CaffePooling2D(mode, pool_size, strides)(x)
        self.assertAllClose(outputs, pool(x, mode, pool_size, strides))

    @pytest.mark.parametrize(
        ("size", "pooled"), [(32, 16), (28, 14), (16, 8), (14, 7), (8, 4), (7, 3), (3, 1), (2, 1)]
    )
    def test_sizes(self, size, pooled):
        layer = CaffePooling2D("max")
        assert layer.compute_output_shape((None, size, 5, 3)) == (None, pooled, 2, 3)
        assert layer(keras.Input((5, size, 1))).shape == (None, 2, pooled, 1)

    @pytest.mark.parametrize("size", [4, 6, 7])
    def test_negative_inputs_stay_negative(self, size):
        # A maximum that saw padding of 0 would be 0.
        x = -1.0 - np.abs(images(1, size, size, 1))
        outputs = CaffePooling2D("max")(x)
        self.assertAllClose(outputs, pool(x, "max"))
        assert float(keras.ops.max(outputs)) < -1.0

    @pytest.mark.parametrize("size", [2, 4, 6, 7])
    def test_average_of_a_constant_is_the_constant(self, size):
        outputs = CaffePooling2D("average")(np.full((1, size, size, 1), 3.0, "float32"))
        self.assertAllClose(outputs, np.full(outputs.shape, 3.0))

    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize("size", [4, 7])
    def test_gradient_equals_differences_of_the_loop(self, mode, size):
        # Distinct inputs a step of 0.01 apart: no maximum changes within the difference.
        order = np.random.default_rng(1).permutation(size * size)
        x = (0.01 * order - 0.5).astype("float32").reshape(1, size, size, 1)
        layer = CaffePooling2D(mode)

        def total(values) -> float:
            return float(np.sum(pool(values, mode) ** 2))

        expected, step = np.zeros(x.shape), 1e-4
        for index in np.ndindex(*x.shape):
            plus, minus = x.astype("float64"), x.astype("float64")
            plus[index] += step
            minus[index] -= step
            expected[index] = (total(plus) - total(minus)) / (2 * step)
        found = gradient(lambda tensor: keras.ops.sum(keras.ops.square(layer(tensor))), x)
        self.assertFinite(found)
        self.assertAllClose(found, expected, atol=1e-4)

    @pytest.mark.parametrize(
        ("kwargs", "name"),
        [
            ({"mode": "avg"}, "mode"),
            ({"mode": None}, "mode"),
            ({"mode": "max", "pool_size": 0}, "pool_size"),
            ({"mode": "max", "pool_size": (3, 3)}, "pool_size"),
            ({"mode": "max", "strides": 0}, "strides"),
            ({"mode": "max", "strides": 1.5}, "strides"),
            ({"mode": "max", "pool_size": 2, "strides": 3}, "strides"),
        ],
    )
    def test_wrong_arguments(self, kwargs, name):
        with pytest.raises(ValueError, match=f"`{name}`"):
            CaffePooling2D(**kwargs)

    @pytest.mark.parametrize("shape", [(2, 4, 4), (1, 1, 4, 3), (1, 4, 1, 3), (1, 2, 4, 4, 3)])
    def test_wrong_input_shape(self, shape):
        with pytest.raises(ValueError, match="height"):
            CaffePooling2D("max")(np.ones(shape, "float32"))

    def test_unknown_height(self):
        with pytest.raises(ValueError, match="known height"):
            CaffePooling2D("average")(keras.Input((None, 4, 3)))
