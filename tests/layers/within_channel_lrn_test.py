import keras
import numpy as np
import pytest

from csdl_keras.layers import WithinChannelLRN
from tests.layers.caffe_loops import within_channel_lrn
from tests.support.gradients import gradient
from tests.support.testing import TestCase


def images(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(scale=100, size=shape).astype("float32")


class TestWithinChannelLRN(TestCase):
    def test_contract(self):
        self.run_layer_test(WithinChannelLRN, images(2, 4, 5, 3), (2, 4, 5, 3), atol=1e-4)

    @pytest.mark.parametrize("shape", [(2, 6, 6, 2), (1, 1, 1, 1), (1, 2, 7, 3), (1, 5, 1, 1)])
    def test_equals_loop(self, shape):
        x = images(*shape)
        expected = within_channel_lrn(x)
        assert np.max(np.abs(expected - x)) > 5e-3
        self.assertAllClose(WithinChannelLRN()(x), expected)

    @pytest.mark.parametrize("size", [1, 3, 5])
    @pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.75), (0.3, 2.0), (0.0, 0.75), (1.0, 0.0)])
    def test_equals_loop_for_other_arguments(self, size, alpha, beta):
        x = images(1, 4, 6, 2) / 100
        outputs = WithinChannelLRN(size, alpha, beta)(x)
        self.assertAllClose(outputs, within_channel_lrn(x, size, alpha, beta))

    def test_divides_by_the_full_window_at_the_edge(self):
        # A corner sees 4 ones of 9, an edge 6, the middle 9.
        outputs = WithinChannelLRN(alpha=9.0, beta=1.0)(np.ones((1, 3, 3, 1), "float32"))
        expected = 1 / np.array([[5.0, 7.0, 5.0], [7.0, 10.0, 7.0], [5.0, 7.0, 5.0]])
        self.assertAllClose(outputs[0, :, :, 0], expected)

    def test_channels_do_not_mix(self):
        x = images(1, 4, 4, 2)
        both = WithinChannelLRN()(x)
        x[..., 1] = 0
        self.assertAllClose(WithinChannelLRN()(x)[..., 0], both[..., 0], atol=0)

    def test_gradient_at_zero_is_one(self):
        layer = WithinChannelLRN(alpha=1.0)
        found = gradient(lambda x: keras.ops.sum(layer(x)), np.zeros((1, 3, 3, 1), "float32"))
        self.assertAllClose(found, np.ones((1, 3, 3, 1)))

    @pytest.mark.parametrize(
        ("kwargs", "name"),
        [
            ({"size": 2}, "size"),
            ({"size": 0}, "size"),
            ({"size": 3.0}, "size"),
            ({"alpha": -1.0}, "alpha"),
            ({"alpha": None}, "alpha"),
            ({"beta": np.nan}, "beta"),
        ],
    )
    def test_wrong_arguments(self, kwargs, name):
        with pytest.raises(ValueError, match=f"`{name}`"):
            WithinChannelLRN(**kwargs)

    @pytest.mark.parametrize("shape", [(2, 4), (2, 4, 4), (1, 2, 4, 4, 3)])
    def test_wrong_input_shape(self, shape):
        with pytest.raises(ValueError, match="height, width, channels"):
            WithinChannelLRN()(np.ones(shape, "float32"))
