import keras
import numpy as np
import pytest

from csdl_keras.layers import CostOutput
from csdl_keras.models import mlp
from tests.support.testing import TestCase

RNG = np.random.default_rng(0)


def forward(model: keras.Model, x: np.ndarray) -> np.ndarray:
    """The outputs of a logistic network, from its weights."""
    values = x.reshape(len(x), -1).astype("float64")
    *hidden, last = [layer.get_weights() for layer in model.layers if layer.weights]
    for kernel, bias in hidden:
        values = 1 / (1 + np.exp(-(values @ kernel + bias)))
    values = values @ last[0] + last[1]
    if isinstance(model.layers[-1], CostOutput):
        return values
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


class TestMLP(TestCase):
    def test_defaults_are_the_networks_of_the_paper(self):
        model = mlp((28, 28, 1), num_classes=10)
        assert [layer.units for layer in model.layers if layer.weights] == [500, 500, 500, 10]
        assert model.layers[-1].activation is keras.activations.softmax
        assert (model.name, model.compiled) == ("mlp", False)

    @pytest.mark.parametrize("output", ["probability", "cost"])
    @pytest.mark.parametrize(("input_shape", "hidden_units"), [((6,), ()), ([1, 2, 3], [5, 4])])
    def test_equals_numpy(self, output, input_shape, hidden_units):
        model = mlp(input_shape, 3, hidden_units, output=output)
        model.set_weights([RNG.normal(size=w.shape) for w in model.get_weights()])
        x = RNG.normal(size=(4, *input_shape)).astype("float32")
        assert model.input_shape == (None, *input_shape)
        units = [layer.units for layer in model.layers if layer.weights]
        assert units == [*hidden_units, 3]
        assert isinstance(model.layers[-1], CostOutput) == (output == "cost")
        self.assertAllClose(model(x), forward(model, x), atol=1e-4)

    @pytest.mark.parametrize(("activation", "factor"), [("sigmoid", 4), ("relu", 1)])
    def test_activation_and_initial_range(self, activation, factor):
        model = mlp((60,), 3, (80, 40), activation=activation, name="blind")
        assert model.name == "blind"
        for layer, ends in zip(model.layers[1:3], [(60, 80), (80, 40)], strict=True):
            assert layer.activation is keras.activations.get(activation)
            kernel, bias = layer.get_weights()
            limit = factor * np.sqrt(6 / sum(ends))
            assert 0.98 * limit < np.abs(kernel).max() <= limit
            assert abs(kernel.std() - limit / np.sqrt(3)) < 0.05 * limit
            assert not bias.any()
