import keras
import numpy as np
import pytest

from csdl_keras.layers import MaskingNoise
from tests.support.testing import TestCase, dtype_policy, to_numpy


def positive_inputs(*shape: int) -> np.ndarray:
    """Inputs of which none is 0, so that a 0 in the output was put there."""
    return np.random.default_rng(0).uniform(0.1, 2.0, shape).astype("float32")


def corrupt(layer: MaskingNoise, x: np.ndarray) -> np.ndarray:
    return to_numpy(layer(x, training=True))


class TestMaskingNoise(TestCase):
    def test_contract(self):
        x = positive_inputs(3, 4)
        outputs = self.run_layer_test(lambda: MaskingNoise(0.5, seed=1), x, (3, 4))
        self.assertAllClose(outputs, x, atol=0, rtol=0)

    @pytest.mark.parametrize("shape", [(50, 40), (20, 10, 10, 1)])
    def test_zeroes_and_leaves_the_others_as_they_are(self, shape):
        x = positive_inputs(*shape)
        noisy = corrupt(MaskingNoise(0.3, seed=2), x)
        zeroed = noisy == 0
        assert 0 < zeroed.sum() < zeroed.size
        np.testing.assert_array_equal(noisy[~zeroed], x[~zeroed])

    @pytest.mark.parametrize("rate", [0.1, 0.25, 0.4, 0.9])
    def test_share_of_zeroes_is_the_rate(self, rate):
        noisy = corrupt(MaskingNoise(rate, seed=3), positive_inputs(200, 200))
        deviation = np.sqrt(rate * (1 - rate) / noisy.size)
        assert abs((noisy == 0).mean() - rate) < 5 * deviation

    def test_every_input_has_its_own_chance(self):
        zeroed = corrupt(MaskingNoise(0.5, seed=4), positive_inputs(64, 64)) == 0
        for axis in (0, 1):
            share = zeroed.mean(axis=axis)
            assert 0.1 < share.min() < 0.5 < share.max() < 0.9

    @pytest.mark.parametrize("training", [False, None])
    def test_off_at_inference(self, training):
        x = positive_inputs(4, 5)
        kwargs = {} if training is None else {"training": training}
        np.testing.assert_array_equal(to_numpy(MaskingNoise(0.9)(x, **kwargs)), x)

    def test_rate_zero_keeps_and_rate_one_clears_everything(self):
        x = positive_inputs(30, 30)
        np.testing.assert_array_equal(corrupt(MaskingNoise(0), x), x)
        np.testing.assert_array_equal(corrupt(MaskingNoise(1), x), np.zeros_like(x))

    def test_nan_is_cleared_too(self):
        x = np.full((2, 3), np.nan, "float32")
        np.testing.assert_array_equal(corrupt(MaskingNoise(1), x), np.zeros_like(x))

    def test_fixed_seed_is_reproducible(self):
        x = positive_inputs(10, 10)
        first, second = MaskingNoise(0.5, seed=7), MaskingNoise(0.5, seed=7)
        for _ in range(2):
            np.testing.assert_array_equal(corrupt(first, x), corrupt(second, x))
        other = corrupt(MaskingNoise(0.5, seed=8), x)
        assert np.any(other != corrupt(MaskingNoise(0.5, seed=7), x))

    def test_without_seed_follows_the_global_one(self):
        x = positive_inputs(10, 10)

        def drawn(seed: int) -> np.ndarray:
            keras.utils.set_random_seed(seed)
            return corrupt(MaskingNoise(0.5), x)

        np.testing.assert_array_equal(drawn(5), drawn(5))
        assert np.any(drawn(5) != drawn(6))

    def test_two_layers_without_seed_differ(self):
        x = positive_inputs(10, 10)
        assert np.any(corrupt(MaskingNoise(0.5), x) != corrupt(MaskingNoise(0.5), x))

    def test_fresh_mask_each_call(self):
        x = positive_inputs(10, 10)
        layer = MaskingNoise(0.5, seed=9)
        assert np.any(corrupt(layer, x) != corrupt(layer, x))

    @pytest.mark.filterwarnings("ignore:The model does not have any trainable weights")
    def test_fresh_mask_each_step_of_fit(self):
        # The only path from inputs to the loss is the noise: equal losses mean equal masks.
        model = keras.Sequential([keras.Input((50,)), MaskingNoise(0.5, seed=1)])
        model.compile("sgd", loss="mean_absolute_error")
        x = np.arange(1.0, 51.0, dtype="float32")[None]
        history = model.fit(x, np.zeros_like(x), epochs=4, verbose=0).history["loss"]
        assert len(set(history)) > 1
        assert max(history) < x.mean()
        self.assertAllClose(model.evaluate(x, np.zeros_like(x), verbose=0), x.mean())

    def test_bfloat16_keeps_dtype_and_rate(self):
        rate = 0.003
        with dtype_policy("bfloat16"):
            layer = MaskingNoise(rate, seed=1)
            noisy = layer(keras.ops.ones((200, 200), dtype="bfloat16"), training=True)
        assert keras.backend.standardize_dtype(noisy.dtype) == "bfloat16"
        values = to_numpy(noisy)
        assert set(np.unique(values)) == {0.0, 1.0}
        deviation = np.sqrt(rate * (1 - rate) / values.size)
        assert abs((values == 0).mean() - rate) < 5 * deviation

    def test_has_no_parameters(self):
        layer = MaskingNoise(0.5)
        layer(np.ones((1, 2)), training=True)
        assert layer.count_params() == 0

    @pytest.mark.parametrize("rate", [-0.1, 1.1, np.nan, np.inf, None, "0.5", True, [0.5]])
    def test_wrong_rate(self, rate):
        with pytest.raises(ValueError, match="`rate`"):
            MaskingNoise(rate)
