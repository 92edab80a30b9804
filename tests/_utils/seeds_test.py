"""Seeds of parts: the same whatever else draws random numbers, and different from each other."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras._utils.seeds import Seeds
from tests.support.testing import to_numpy
from tests.support.weights import assert_same_weights

BUILDERS = {
    "mlp": lambda seed: csdl.models.mlp((8, 8, 1), 3, (5, 5), output="cost", seed=seed),
    "full": lambda seed: csdl.models.caffe_cifar10((8, 8, 1), 3, "full", seed=seed),
}


def differ(*models):
    weights = zip(*(model.get_weights() for model in models), strict=True)
    return all(np.abs(a - b).max() > 0 for a, b in weights if a.ndim > 1)


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
def test_weights_follow_the_seed_or_without_one_the_global_one(build):
    models = []
    for draw in (1, 2):
        keras.utils.set_random_seed(draw)
        models.append([build(None), build(None), build(7), build(8)])
    (first, second, seven, eight), (last, _, again, _) = models
    assert_same_weights(seven, again)
    assert differ(seven, eight) and differ(first, second) and differ(first, last)
    keras.utils.set_random_seed(1)
    assert_same_weights(first, build(None))


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


def test_an_integer_of_numpy_is_the_same_seed():
    assert [Seeds(np.int64(3), purpose).next() for purpose in ("", "pretrain")] == [
        Seeds(3, purpose).next() for purpose in ("", "pretrain")
    ]
