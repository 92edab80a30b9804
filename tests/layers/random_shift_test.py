"""Tests of random shifts."""

import keras
import numpy as np

from csdl_keras.layers import RandomShift
from tests.support.testing import TestCase, to_numpy

IMAGES = np.random.default_rng(0).uniform(size=(6, 8, 10, 2)).astype("float32")


class TestRandomShift(TestCase):
    def test_contract(self):
        outputs = self.run_layer_test(lambda: RandomShift(0.2, 0.2, seed=0), IMAGES, IMAGES.shape)
        self.assertAllClose(outputs, IMAGES, atol=0.0, rtol=0.0)

    def test_shifts_in_training_by_no_more_than_it_says(self):
        one = np.zeros((64, 9, 9, 1), "float32")
        one[:, 4, 4] = 1.0
        layer = RandomShift(2 / 9, 2 / 9, fill_mode="constant", seed=0)
        shifted = to_numpy(layer(one, training=True))
        assert np.any(shifted != one)
        assert np.all(shifted[:, [0, 8]] == 0) and np.all(shifted[:, :, [0, 8]] == 0)
        self.assertAllClose(shifted.sum(axis=(1, 2, 3)), np.ones(64), atol=1e-4)

    def test_a_plain_call_trains_nothing(self):
        inputs = keras.Input(IMAGES.shape[1:])
        x = RandomShift(0.2, 0.2, seed=0)(inputs)
        model = keras.Model(inputs, keras.layers.BatchNormalization()(x))
        before = [weight.copy() for weight in model.get_weights()]
        first, second = to_numpy(model(IMAGES)), to_numpy(model(IMAGES))
        self.assertAllClose(first, second, atol=0.0, rtol=0.0)
        self.assertAllClose(model.predict(IMAGES, verbose=0), first)
        for weight, old in zip(model.get_weights(), before, strict=True):
            np.testing.assert_array_equal(weight, old)

    def test_a_model_with_it_is_compiled_on_jax(self):
        inputs = keras.Input(IMAGES.shape[1:])
        x = keras.layers.Flatten()(RandomShift(0.2, 0.2, seed=0)(inputs))
        model = keras.Model(inputs, keras.layers.Dense(1)(x))
        model.compile("sgd", loss="mean_squared_error")
        if keras.backend.backend() == "jax":
            assert model.jit_compile
        model.fit(IMAGES, np.ones(6), verbose=0)
