"""Tests of the convolutional network."""

import keras
import numpy as np
import pytest

from csdl_keras import output_kind
from csdl_keras.models import convnet
from tests.support.testing import JIT_COMPILE, TestCase, to_numpy

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(4, 8, 8, 1)).astype("float32")


def bars(size, seed):
    """Images of a horizontal or a vertical bar, somewhere."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(2, size=size)
    images = np.zeros((size, 8, 8, 1), "float32")
    for image, label, place in zip(images, labels, rng.integers(1, 7, size=size), strict=True):
        image[(place, slice(None)) if label else (slice(None), place)] = 1.0
    return images, labels


class TestConvnet(TestCase):
    @pytest.mark.parametrize(
        ("shape", "output"),
        [((28, 20, 3), "cost"), ((3, 50, 1), "probability"), ((1, 1, 2), "cost")],
    )
    def test_images_of_any_size(self, shape, output):
        model = convnet(shape, 5, filters=(4, 6, 8), output=output)
        outputs = model(RNG.uniform(size=(3, *shape)))
        assert tuple(outputs.shape) == (3, 5) and output_kind(model) == output
        self.assertFinite(outputs)

    def test_features(self):
        assert convnet((8, 8, 1), 3, filters=(4, 6), output="features").output_shape == (None, 12)

    def test_learns(self):
        x, y = bars(400, seed=0)
        model = convnet((8, 8, 1), 2, filters=(4, 8), seed=0)
        model.compile(
            keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", jit_compile=JIT_COMPILE
        )
        model.fit(x, y, batch_size=20, epochs=6, verbose=0)
        test, labels = bars(200, seed=1)
        assert np.mean(to_numpy(model(test)).argmax(axis=1) == labels) > 0.95

    def test_seed(self):
        """The same seed gives the same weights, shifts and dropped features."""
        models = [convnet((8, 8, 1), 3, filters=(4, 6), seed=seed) for seed in (1, 1, 2)]
        weights = [model.get_weights() for model in models]
        for one, two in zip(weights[0], weights[1], strict=True):
            np.testing.assert_array_equal(one, two)
        assert any(np.any(one != two) for one, two in zip(weights[0], weights[2], strict=True))
        outputs = [to_numpy(model(X, training=True)) for model in models]
        np.testing.assert_array_equal(outputs[0], outputs[1])

    def test_value_range(self):
        """A network for other values outputs what it does for those from 0 to 1."""
        models = [
            convnet((8, 8, 1), 3, filters=(4, 6), seed=0, value_range=values)
            for values in ((0, 1), (0, 255), (-3, 2))
        ]
        expected = to_numpy(models[0](X))
        self.assertAllClose(models[1](255 * X), expected, atol=1e-5)
        self.assertAllClose(models[2](5 * X - 3), expected, atol=1e-5)

    @pytest.mark.parametrize(
        "arguments",
        [
            {"input_shape": (8, 8)},
            {"num_classes": 1},
            {"filters": (4, 0)},
            {"shift": 0.7},
            {"dropout": 1.0},
            {"output": "class"},
            {"value_range": (1, 1)},
            {"value_range": (0, float("nan"))},
            {"value_range": 255},
        ],
    )
    def test_wrong_arguments(self, arguments):
        with pytest.raises(ValueError, match="received"):
            convnet(**{"input_shape": (8, 8, 1), "num_classes": 3, **arguments})
