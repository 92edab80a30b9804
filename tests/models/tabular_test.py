import keras
import numpy as np
import pandas
import pytest

from csdl_keras.layers import MemberScaling
from csdl_keras.models import tabular
from tests.support.testing import TestCase, to_numpy

RNG = np.random.default_rng(0)
NOISE = np.random.default_rng(1).normal(size=1000)
CONSTANT = {
    "zero": np.zeros(1000),
    "a tenth": np.full(1000, 0.1),
    "computed in float32": np.float32(0.7) * (1 + np.float32(2e-7) * NOISE.clip(-1, 1)),
    "noise on an offset": 1e9 + NOISE,
    "one row": np.full(1, 7.0),
}


def bounded(z):
    return z / np.sqrt(1 + (z / 3) ** 2)


def silu(z):
    return z / (1 + np.exp(-z))


class TestTabular(TestCase):
    def test_outputs_of_standardised_inputs(self):
        x = np.stack([RNG.normal(5.0, 3.0, size=50), np.full(50, 2.0)], axis=1)
        model = tabular(x, 2, (), output="cost", bins=0)
        kernel, bias = model.get_weights()[-2:]
        rows = bounded((x - x.mean(axis=0)) / [x[:, 0].std(), 1.0])
        self.assertAllClose(model(x), rows @ kernel + bias, atol=1e-4)

    @pytest.mark.parametrize("kind", CONSTANT)
    def test_columns_constant_but_for_rounding_have_no_influence(self, kind):
        column = np.asarray(CONSTANT[kind], "float64")
        x = np.stack([RNG.normal(size=len(column)), column], axis=1)
        features = tabular(x, 2, (), output="features")
        later = np.array([*column[:3], 0.0, 1.0, -1e6, 1e12])
        found = to_numpy(features(np.stack([np.full(len(later), x[0, 0]), later], axis=1)))
        assert np.all(np.abs(found[:, 0]) < 10)
        assert np.all(np.abs(found[:, 1]) < 1e-6 + np.abs(column[0]) / 1e18)

    def test_features_and_seed(self):
        x = RNG.normal(size=(20, 4))
        assert tabular(x, 3, (8, 6), output="features").output_shape == (None, 6)
        models = [tabular(x, 3, (8,), dropout=0.5, seed=3) for _ in range(2)]
        first, again = (to_numpy(model(x, training=True)) for model in models)
        np.testing.assert_array_equal(first, again)

    def test_a_network_is_the_mean_of_its_members(self):
        x = RNG.normal(size=(50, 4))
        model = tabular(x, 3, (7, 5), dropout=0, output="features", members=3, seed=0)
        (scaling,) = (layer for layer in model.layers if isinstance(layer, MemberScaling))
        (first, second) = (layer for layer in model.layers if isinstance(layer, keras.layers.Dense))
        (factors,) = (it for it in model.layers if isinstance(it, keras.layers.EinsumDense))
        kernel, bias = first.get_weights()
        second, shift = second.get_weights()
        scaling.bias.assign(RNG.normal(size=(3, 7)))
        factors.kernel.assign(RNG.uniform(size=factors.kernel.shape))
        encoded = 6.0 * to_numpy(factors.kernel) * to_numpy(model.layers[1](x))
        hidden = encoded @ kernel + bias
        members = [
            silu(silu(hidden * scale + own) @ second + shift)
            for scale, own in zip(*scaling.get_weights(), strict=True)
        ]
        self.assertAllClose(model(x), np.mean(members, axis=0))
        drawn = to_numpy(model(x, training=True))
        distances = np.abs(drawn - np.array(members)).max(axis=-1)
        assert distances.min(axis=0).max() < 1e-5 and set(distances.argmin(axis=0)) == {0, 1, 2}

    def test_categories_and_missing_values(self):
        x = np.stack([RNG.normal(size=90), np.arange(90) % 3], axis=1)
        x[::5] = np.nan
        frame = pandas.DataFrame(
            {"number": x[:, 0], "letter": pandas.Series(x[:, 1]).map(dict(enumerate("abc")))}
        )
        features = tabular(frame, 2, (), output="features", bins=0)
        found = to_numpy(features(np.array([[np.nan, 2.0], [np.nanmean(x[:, 0]), np.nan]])))
        self.assertAllClose(found, [[0, 1, 0, 0, 0, 1], [0, 0, 1, 0, 0, 0]], atol=1e-6)

    def test_it_starts_without_bends(self):
        x = RNG.normal(size=(200, 2))
        model = tabular(x, 2, (6,), seed=0)
        factors, hidden, _ = (it.kernel for it in model.layers if hasattr(it, "kernel"))
        np.testing.assert_allclose(6.0 * to_numpy(factors), 1.0, rtol=1e-6)
        kernel = to_numpy(hidden)
        assert kernel.shape == (2 + 2 * 10, 6) and np.all(kernel[:2]) and not kernel[2:].any()
