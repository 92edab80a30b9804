"""Tests of Caffe's networks against loops over their prototxt files."""

import keras
import numpy as np
import pytest

from csdl_keras.models import caffe_cifar10
from tests.layers.caffe_loops import pool, within_channel_lrn
from tests.support.testing import TestCase, to_numpy

SMALL = (12, 10, 2)
VARIANTS = pytest.mark.parametrize("variant", ["quick", "full"])


def images(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(size=shape).astype("float32")


def convolve(x: np.ndarray, kernel: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Correlation with a 5x5 kernel, two zeros around the image."""
    padded = np.pad(x, ((0, 0), (2, 2), (2, 2), (0, 0)))
    y = np.zeros((*x.shape[:3], kernel.shape[-1]))
    for i, j in np.ndindex(x.shape[1:3]):
        window = padded[:, i : i + 5, j : j + 5, :]
        y[:, i, j] = np.einsum("nhwc,hwcf->nf", window, kernel) + bias
    return y


def forward(model: keras.Model, x: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """The outputs as Caffe's prototxt files spell them, from the model's weights."""
    full = model.name.endswith("full")

    def weights(name: str) -> list[np.ndarray]:
        return [w.astype("float64") for w in model.get_layer(name).get_weights()]

    y = 255.0 * x.astype("float64") - mean
    y = np.maximum(pool(convolve(y, *weights("conv1")), "max"), 0)
    y = within_channel_lrn(y) if full else y
    y = pool(np.maximum(convolve(y, *weights("conv2")), 0), "average")
    y = within_channel_lrn(y) if full else y
    y = pool(np.maximum(convolve(y, *weights("conv3")), 0), "average")
    y = y.reshape(len(y), -1)
    for name in ("cost",) if full else ("ip1", "cost"):
        kernel, bias = weights(name)
        y = y @ kernel + bias
    return y


def spread_weights(model: keras.Model) -> None:
    """Weights that keep the signal alive: Caffe's own start gives outputs that hardly vary."""
    rng = np.random.default_rng(1)
    for layer in model.layers:
        if layer.weights:
            kernel, bias = layer.get_weights()
            scale = np.sqrt(2 / np.prod(kernel.shape[:-1]))
            bias = rng.normal(scale=10 if "conv" in layer.name else 0.1, size=bias.shape)
            layer.set_weights([rng.normal(scale=scale, size=kernel.shape), bias])


class TestCaffeCifar10(TestCase):
    @pytest.mark.parametrize(("variant", "count"), [("quick", 145_578), ("full", 89_578)])
    def test_defaults(self, variant, count):
        model = caffe_cifar10(variant=variant)
        assert model.count_params() == count
        assert (model.input_shape, model.output_shape) == ((None, 32, 32, 3), (None, 10))
        sizes = [model.get_layer(f"pool{i}").output.shape[1:] for i in (1, 2, 3)]
        assert sizes == [(16, 16, 32), (8, 8, 32), (4, 4, 64)]

    @pytest.mark.parametrize(
        ("variant", "mean"),
        [
            ("full", np.array([100.0, 140.0])),
            ("quick", 255 * images(*SMALL).astype("float64")[::-1]),
        ],
    )
    def test_equals_loops(self, variant, mean):
        model = caffe_cifar10(SMALL, 4, variant, output="cost", mean=mean)
        spread_weights(model)
        x = images(3, *SMALL)
        expected = forward(model, x, mean)
        assert np.all(expected.std(axis=0) > 1e-3 * np.abs(expected).max())
        self.assertAllClose(model(x), expected, atol=1e-4 * np.abs(expected).max())

    @VARIANTS
    def test_decay_is_half_of_the_square(self, variant):
        expected = 0.0
        model = caffe_cifar10(SMALL, 4, variant, weight_decay=0.5)
        for layer in model.layers:
            if layer.weights:
                kernel, bias = layer.get_weights()
                layer.set_weights([np.full(kernel.shape, 0.01), np.ones(bias.shape)])
                squares = np.array([kernel.size * 0.01**2, bias.size])
                last_of_full = variant == "full" and layer is model.layers[-1]
                factors = [250, 0] if last_of_full else [1, 1]
                expected += 0.5 / 2 * squares @ factors
        self.assertAllClose(sum(to_numpy(value) for value in model.losses), expected, rtol=1e-4)
