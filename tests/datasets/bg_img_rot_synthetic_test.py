import dataclasses
import importlib

import numpy as np
import pytest

from csdl_keras.datasets import bg_img_rot_synthetic, load
from tests.datasets.helpers import SPLITS, hashes, labels, toy_data

module = importlib.import_module("csdl_keras.datasets.bg_img_rot_synthetic")
SIZES = (100, 20, 30)


def made(base, sizes=SIZES, **arguments):
    """The set of a base, with other largest numbers of images."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SIZES", sizes)
        return bg_img_rot_synthetic(base, **arguments)


@pytest.fixture(scope="module")
def base():
    return load("mnist_5k", train_size=150)


@pytest.fixture(scope="module")
def data(base):
    return made(base)


def blank(sizes, label_of=lambda number: number % 10):
    """Black images `(28, 28, 1)`; their labels number them."""
    arrays, start = {}, 0
    for split, size in zip(SPLITS, sizes, strict=True):
        arrays[f"x_{split}"] = np.zeros((size, 28, 28, 1), dtype="float32")
        arrays[f"y_{split}"] = np.array([label_of(i) for i in range(start, start + size)])
        start += size
    return dataclasses.replace(toy_data(), num_classes=max(10, start), **arrays)


class TestBgImgRotSynthetic:
    def test_form(self, data):
        found = (data.name, data.num_classes, data.input_shape)
        assert found == ("bg_img_rot_synthetic", 10, (28, 28, 1))
        assert [len(labels(data, split)) for split in SPLITS] == list(SIZES)
        assert data.x_train.dtype == np.float32
        assert 0.0 <= data.x_train.min() < 0.1 < 0.9 < data.x_train.max() <= 1.0

    def test_backgrounds_are_cut_from_the_photographs(self):
        """None is plain, and without more digits the splits keep their proportion."""
        plain = bg_img_rot_synthetic(blank((100, 20, 20)))
        assert [len(labels(plain, split)) for split in SPLITS] == [100, 20, 20]
        assert plain.x_train.std(axis=(1, 2, 3)).min() >= module.MIN_DEVIATION - 1e-6
        for patch in plain.x_train[:5, :, :, 0]:
            found = False
            for picture in module.photographs():
                windows = np.lib.stride_tricks.sliding_window_view(picture, (28, 28))
                places = np.argwhere(windows[:, :, 0, 0] == patch[0, 0])
                found = found or any(np.array_equal(windows[y, x], patch) for y, x in places)
            assert found

    def test_each_digit_is_used_once(self):
        numbered = blank((50, 10, 30), label_of=lambda number: number)
        split = made(numbered, (20, 5, 50))
        train, val, test = (labels(split, name).tolist() for name in SPLITS)
        assert (len(train), len(val), len(test)) == (20, 5, 50)
        assert test[:30] == list(range(60, 90))
        assert len({*train, *val, *test}) == 75
        assert {*train, *val, *test[30:]} <= set(range(60))
        assert train != sorted(train)

    def test_the_seed(self, base, data):
        np.random.seed(7)
        again = made(base)
        other = made(base, seed=1)
        for split in SPLITS:
            assert hashes(data, split) == hashes(again, split)
            assert not set(hashes(data, split)) & set(hashes(other, split))


@pytest.mark.parametrize("turns", [0, 1, 2])
def test_quarter_turns(turns):
    images = np.random.default_rng(0).random((3, 9, 9), dtype="float32")
    rotated = module._rotated(images, np.full(3, turns * np.pi / 2))
    np.testing.assert_allclose(rotated, np.rot90(images, turns, axes=(1, 2)), atol=1e-5)
