"""Seeds of parts: the same whatever else draws random numbers, and different from each other."""

import random

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras._utils.seeds import Seeds
from tests.support.testing import to_numpy
from tests.support.weights import assert_same_weights

X = np.random.default_rng(0).uniform(size=(40, 8, 8, 1)).astype("float32")
COSTS = np.random.default_rng(1).uniform(size=(40, 3))

BUILDERS = {
    "mlp": lambda seed: csdl.models.mlp((8, 8, 1), 3, (5, 5), seed=seed),
    "mlp cost": lambda seed: csdl.models.mlp((8, 8, 1), 3, (5, 5), output="cost", seed=seed),
    "quick": lambda seed: csdl.models.caffe_cifar10((8, 8, 1), 3, seed=seed),
    "full": lambda seed: csdl.models.caffe_cifar10((8, 8, 1), 3, "full", seed=seed),
}


def kernels(model):
    return [w for w in model.get_weights() if w.ndim > 1]


@pytest.mark.parametrize("name", BUILDERS)
class TestBuilders:
    def test_a_seed_fixes_the_weights(self, name):
        models = []
        for draw in (1, 2):
            keras.utils.set_random_seed(draw)
            models.append(BUILDERS[name](7))
        assert_same_weights(*models)
        assert all(
            np.abs(a - b).max() > 0
            for a, b in zip(kernels(models[0]), kernels(BUILDERS[name](8)), strict=True)
        )

    @pytest.mark.parametrize("seed", [None, 7])
    def test_layers_begin_apart(self, name, seed):
        found = [kernel.ravel() for kernel in kernels(BUILDERS[name](seed))]
        for i, kernel in enumerate(found):
            for other in found[:i]:
                size = min(len(kernel), len(other), 9)
                ratio = kernel[:size] / other[:size]
                assert ratio.std() > 1e-3

    def test_without_a_seed_it_follows_the_global_one(self, name):
        keras.utils.set_random_seed(3)
        first, second = BUILDERS[name](None), BUILDERS[name](None)
        keras.utils.set_random_seed(3)
        assert_same_weights(first, BUILDERS[name](None))
        assert np.abs(kernels(first)[0] - kernels(second)[0]).max() > 0


@pytest.mark.slow
class TestPretrain:
    def run(self, seed, shuffling=0):
        model = csdl.models.mlp((8, 8, 1), 3, (6, 5), seed=0)
        keras.utils.set_random_seed(shuffling)
        random.seed()  # whatever another thread may draw
        csdl.pretrain(model, X, COSTS, beta=0.5, epochs=2, batch_size=10, seed=seed, verbose=0)
        return model

    def test_a_seed_fixes_it(self):
        first = self.run(7)
        assert_same_weights(first, self.run(7))
        assert np.abs(kernels(first)[0] - kernels(self.run(8))[0]).max() > 1e-6

    def test_without_a_seed_it_follows_the_global_one(self):
        assert np.abs(kernels(self.run(None))[0] - kernels(self.run(None))[0]).max() > 1e-6


class TestTrainer:
    @pytest.mark.parametrize("name", ["csdnn", "cnn_bayes"])
    def test_other_threads_may_draw_random_numbers(self, name, monkeypatch):
        """As those of a Dask worker do."""
        settings = (
            csdl.Settings()
            .replace({"mlp.hidden_units": (6,), "mlp.min_steps": 1, "cnn.min_steps": 1})
            .limit_epochs(1)
        )
        matrix = csdl.costs.randomized_proportional([0, 1, 2], seed=0)
        labels = np.arange(40) % 3

        def run():
            return csdl.train(name, X, labels, matrix, settings=settings, seed=0)

        first, original = run(), keras.utils.set_random_seed

        def disturbed(seed):
            original(seed)
            random.random()

        monkeypatch.setattr(keras.utils, "set_random_seed", disturbed)
        assert_same_weights(first, run())


class TestSeeds:
    def test_purposes_are_apart(self):
        draws = {Seeds(0).next(), Seeds(0, "a").next(), Seeds(0, "b").next(), Seeds(1).next()}
        assert len(draws) == 4

    def test_without_a_seed(self):
        seeds = Seeds(None)
        assert seeds.next() is None
        instance = keras.initializers.HeNormal()
        draws = [to_numpy(seeds.initializer(instance)((4,))) for _ in range(2)]
        assert np.abs(draws[0] - draws[1]).max() > 0  # one for each layer that asks

    def test_what_has_a_seed_keeps_it(self):
        instance = keras.initializers.HeNormal(seed=5)
        assert Seeds(0).initializer(instance) is instance
        assert isinstance(Seeds(0).initializer("zeros"), keras.initializers.Zeros)
        assert Seeds(0).initializer("he_normal").get_config()["seed"] == Seeds(0).next()

    def test_a_function_stays(self):
        def ones(shape, dtype=None):
            return keras.ops.ones(shape, dtype)

        assert Seeds(0).initializer(ones) is ones


def test_an_integer_of_numpy_is_the_same_seed():
    assert [Seeds(np.int64(3), purpose).next() for purpose in ("", "pretrain")] == [
        Seeds(3, purpose).next() for purpose in ("", "pretrain")
    ]
