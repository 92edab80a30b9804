import dataclasses
import importlib

import numpy as np
import pytest

from csdl_keras import datasets
from csdl_keras.datasets import load
from tests.datasets.helpers import SPLITS, hashes

module = importlib.import_module("csdl_keras.datasets.load")


class TestLoad:
    def test_plain(self):
        data = load("digits")
        assert (data.name, len(data.y_train), data.imbalanced) == ("digits", 1100, False)

    def test_imbalanced(self):
        data = load("digits", imbalanced=True, seed=3)
        expected = datasets.imbalance(load("digits"), seed=3)
        for split in SPLITS:
            assert hashes(data, split) == hashes(expected, split)
        assert data.imbalanced

    def test_train_size(self):
        data = load("digits", train_size=200, seed=3)
        expected = datasets.subset(load("digits"), 200, seed=3)
        for split in SPLITS:
            assert hashes(data, split) == hashes(expected, split)
        assert len(data.y_train_val) == 200

    def test_both(self):
        data = load("digits", imbalanced=True, train_size=300)
        rare = np.random.default_rng(0).choice(10, 4, replace=False)
        counts = np.bincount(data.y_train_val)
        assert counts.sum() == 300
        assert counts[rare].max() < 0.5 * np.delete(counts, rare).min()

    def test_the_seed_does_not_change_splits(self):
        assert hashes(load("digits", seed=5), "test") == hashes(load("digits"), "test")

    @pytest.mark.parametrize("name", [None, 3, b"digits"])
    def test_names_that_are_no_strings(self, name):
        with pytest.raises(ValueError, match="Expected `name` to be a string"):
            load(name)

    def test_sizes_out_of_range(self):
        with pytest.raises(ValueError, match="`train_size` from .* to 1257; received 5000"):
            load("digits", train_size=5000)

    def test_grayscale(self, monkeypatch):
        rgb = dataclasses.replace(
            load("digits"),
            **{f"x_{s}": np.repeat(getattr(load("digits"), f"x_{s}"), 3, -1) for s in SPLITS},
        )
        monkeypatch.setattr(module, "load_tfds", lambda name, data_dir: rgb)
        assert load("cifar10").input_shape == (8, 8, 3)
        gray = load("cifar10", grayscale=True, imbalanced=True)
        assert (gray.input_shape, gray.imbalanced) == ((8, 8, 1), True)
        np.testing.assert_allclose(
            gray.x_test, datasets.imbalance(load("digits")).x_test, atol=1e-6
        )

    def test_bg_img_rot_synthetic_is_made_from_mnist(self, monkeypatch, tmp_path):
        asked = []

        def mnist(name, data_dir):
            asked.append((name, data_dir))
            return load("mnist_5k", train_size=100)

        monkeypatch.setattr(module, "load_tfds", mnist)
        data = load("bg_img_rot_synthetic", data_dir=tmp_path, seed=3)
        expected = datasets.bg_img_rot_synthetic(load("mnist_5k", train_size=100))
        assert asked == [("mnist", tmp_path)]
        assert data.name == "bg_img_rot_synthetic"
        assert hashes(data, "test") == hashes(expected, "test")
