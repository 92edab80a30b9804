import keras
import numpy as np
import pytest

from csdl_keras.layers import MaskingNoise, RandomShift
from tests.support.testing import TestCase, to_numpy

# None is 0, so that a 0 in the output was put there.
X = np.random.default_rng(0).uniform(0.1, 2.0, size=(200, 200)).astype("float32")
IMAGES = np.random.default_rng(0).uniform(size=(6, 8, 10, 2)).astype("float32")


def corrupt(layer: MaskingNoise, x: np.ndarray = X) -> np.ndarray:
    return to_numpy(layer(x, training=True))


class TestMaskingNoise(TestCase):
    @pytest.mark.parametrize("rate", [0.1, 0.9])
    def test_zeroes_a_share_and_leaves_the_others_as_they_are(self, rate):
        noisy = corrupt(MaskingNoise(rate, seed=3))
        zeroed = noisy == 0
        np.testing.assert_array_equal(noisy[~zeroed], X[~zeroed])
        assert abs(zeroed.mean() - rate) < 5 * np.sqrt(rate * (1 - rate) / X.size)
        assert np.abs(zeroed.mean(axis=0) - rate).max() < 0.2  # Every input is drawn on its own.

    def test_seeds(self):
        first, second = MaskingNoise(0.5, seed=7), MaskingNoise(0.5, seed=7)
        masks = [corrupt(first), corrupt(first), corrupt(MaskingNoise(0.5, seed=80))]
        np.testing.assert_array_equal(corrupt(second), masks[0])
        np.testing.assert_array_equal(corrupt(second), masks[1])
        masks += [corrupt(MaskingNoise(0.5)), corrupt(MaskingNoise(0.5))]
        assert len({mask.tobytes() for mask in masks}) == 5

        keras.utils.set_random_seed(5)
        drawn = corrupt(MaskingNoise(0.5))
        keras.utils.set_random_seed(5)
        np.testing.assert_array_equal(corrupt(MaskingNoise(0.5)), drawn)

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


class TestRandomShift(TestCase):
    def test_a_plain_call_trains_nothing(self):
        inputs = keras.Input(IMAGES.shape[1:])
        x = RandomShift(0.2, 0.2, seed=0)(inputs)
        model = keras.Model(inputs, keras.layers.BatchNormalization()(x))
        before = [weight.copy() for weight in model.get_weights()]
        self.assertAllClose(model(IMAGES), IMAGES / np.sqrt(1.001))
        for weight, old in zip(model.get_weights(), before, strict=True):
            np.testing.assert_array_equal(weight, old)
