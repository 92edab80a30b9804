"""Tests of the network for tables."""

import keras
import numpy as np
import pytest

from csdl_keras import output_kind
from csdl_keras.models import tabular
from tests.testing import TestCase

RNG = np.random.default_rng(0)


def table(size, seed):
    """Columns of very different units; the sign of a product decides."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(size, 3))
    return z * [1e-3, 1.0, 1e4] + [5.0, 0.0, -1e5], (z[:, 0] * z[:, 2] > 0).astype(int)


class TestTabular(TestCase):
    @pytest.mark.parametrize("output", ["probability", "cost"])
    @pytest.mark.parametrize("shape", [(7,), (4, 5), (2, 3, 2)])
    def test_shapes(self, shape, output):
        x = RNG.normal(size=(20, *shape))
        model = tabular(x, 4, (6,), output=output)
        assert model.predict(x, verbose=0).shape == (20, 4) and output_kind(model) == output

    def test_units_of_columns_do_not_matter(self):
        x, y = table(2000, seed=0)
        model = tabular(x, 2, (32, 32), seed=0)
        model.compile(keras.optimizers.Adam(3e-3), "sparse_categorical_crossentropy")
        model.fit(x, y, epochs=15, verbose=0)
        test, labels = table(1000, seed=1)
        assert np.mean(model.predict(test, verbose=0).argmax(axis=1) == labels) > 0.9

    def test_inputs_are_standardised_by_the_training_inputs(self):
        x = np.stack([RNG.normal(5.0, 3.0, size=50), np.full(50, 2.0)], axis=1)
        model = tabular(x, 2, ())
        rows = (x - x.mean(axis=0)) / [x[:, 0].std(), 1.0]
        kernel, bias = model.get_weights()[-2:]
        logits = rows @ kernel + bias
        expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        self.assertAllClose(model.predict(x, verbose=0), expected, atol=1e-4)

    def test_features_and_seed(self):
        x = RNG.normal(size=(20, 4))
        assert tabular(x, 3, (8, 6), output="features").output_shape == (None, 6)
        first, again = (tabular(x, 3, (8,), seed=3).get_weights() for _ in range(2))
        for one, two in zip(first, again, strict=True):
            np.testing.assert_array_equal(one, two)

    @pytest.mark.parametrize(
        "arguments",
        [
            {"x": np.ones(5)},
            {"x": np.ones((0, 3))},
            {"num_classes": 1},
            {"hidden_units": (0,)},
            {"dropout": -0.1},
            {"output": "class"},
        ],
    )
    def test_wrong_arguments(self, arguments):
        with pytest.raises(ValueError, match="received"):
            tabular(**{"x": np.ones((5, 3)), "num_classes": 3, **arguments})
