import dataclasses
import importlib

import numpy as np

from csdl_keras import datasets
from csdl_keras.datasets import load
from tests.datasets.helpers import SPLITS, hashes

module = importlib.import_module("csdl_keras.datasets.load")


def assert_same(data, expected):
    assert (data.name, data.imbalanced) == (expected.name, expected.imbalanced)
    for split in SPLITS:
        assert hashes(data, split) == hashes(expected, split)


class TestLoad:
    def test_variants(self):
        plain = load("digits")
        assert (plain.name, len(plain.y_train), plain.imbalanced) == ("digits", 1100, False)
        assert_same(load("digits", seed=5), plain)  # splits do not depend on it
        rare = datasets.imbalance(plain, seed=3)
        assert_same(load("digits", imbalanced=True, seed=3), rare)
        assert_same(load("digits", train_size=200, seed=3), datasets.subset(plain, 200, seed=3))
        both = load("digits", imbalanced=True, train_size=300, seed=3)
        assert_same(both, datasets.subset(rare, 300, seed=3))

    def test_grayscale(self, monkeypatch):
        plain = load("digits")
        images = {f"x_{s}": np.repeat(getattr(plain, f"x_{s}"), 3, axis=-1) for s in SPLITS}
        rgb = dataclasses.replace(plain, **images)
        monkeypatch.setattr(module, "load_tfds", lambda name, data_dir: rgb)
        assert load("cifar10") is rgb
        gray = load("cifar10", grayscale=True, imbalanced=True)
        assert (gray.input_shape, gray.imbalanced) == ((8, 8, 1), True)
        np.testing.assert_allclose(gray.x_test, datasets.imbalance(plain).x_test, atol=1e-6)
