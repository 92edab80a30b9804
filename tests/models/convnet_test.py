"""Tests of the convolutional network of the default rows."""

import keras
import numpy as np
import pytest

from csdl_keras import SOSRLoss, output_kind
from csdl_keras.models import convnet
from tests.support.testing import TestCase, to_numpy

RNG = np.random.default_rng(0)


def bars(size, seed):
    """Images of a horizontal or a vertical bar, somewhere."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(2, size=size)
    images = np.zeros((size, 8, 8, 1), "float32")
    for image, label, place in zip(images, labels, rng.integers(1, 7, size=size), strict=True):
        image[(place, slice(None)) if label else (slice(None), place)] = 1.0
    return images, labels


class TestConvnet(TestCase):
    @pytest.mark.parametrize("output", ["probability", "cost"])
    @pytest.mark.parametrize("shape", [(8, 8, 1), (28, 20, 3), (3, 50, 1), (1, 1, 2)])
    def test_images_of_any_size(self, shape, output):
        model = convnet(shape, 5, filters=(4, 6, 8), output=output)
        outputs = model.predict(RNG.uniform(size=(3, *shape)), verbose=0)
        assert outputs.shape == (3, 5) and output_kind(model) == output
        self.assertFinite(outputs)

    def test_features(self):
        assert convnet((8, 8, 1), 3, filters=(4, 6), output="features").output_shape == (None, 12)

    def test_learns(self):
        keras.utils.set_random_seed(0)
        x, y = bars(400, seed=0)
        model = convnet((8, 8, 1), 2, filters=(4, 8), seed=0)
        model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy")
        model.fit(x, y, batch_size=20, epochs=8, verbose=0)
        test, labels = bars(200, seed=1)
        assert np.mean(model.predict(test, verbose=0).argmax(axis=1) == labels) > 0.95

    def test_a_plain_call_is_a_prediction(self):
        x = RNG.uniform(size=(4, 8, 8, 1)).astype("float32")
        model = convnet((8, 8, 1), 3, filters=(4,))
        weights = model.get_weights()
        self.assertAllClose(to_numpy(model(x)), model.predict(x, verbose=0))
        for weight, before in zip(model.get_weights(), weights, strict=True):
            np.testing.assert_array_equal(weight, before)

    def test_seed(self):
        first, again, other = (
            convnet((8, 8, 1), 3, filters=(4, 6), seed=seed).get_weights() for seed in (1, 1, 2)
        )
        for one, two in zip(first, again, strict=True):
            np.testing.assert_array_equal(one, two)
        assert any(np.any(one != two) for one, two in zip(first, other, strict=True))

    def test_costs_in_training(self):
        x, y = bars(40, seed=0)
        model = convnet((8, 8, 1), 2, filters=(4,), output="cost")
        model.compile("adam", SOSRLoss([[0, 1], [2, 0]]))
        history = model.fit(x, y, verbose=0).history
        assert np.isfinite(history["loss"]).all()

    @pytest.mark.parametrize(
        "arguments",
        [
            {"input_shape": (8, 8)},
            {"num_classes": 1},
            {"filters": (4, 0)},
            {"shift": 0.7},
            {"dropout": 1.0},
            {"output": "class"},
        ],
    )
    def test_wrong_arguments(self, arguments):
        with pytest.raises(ValueError, match="received"):
            convnet(**{"input_shape": (8, 8, 1), "num_classes": 3, **arguments})
