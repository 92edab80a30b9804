import dataclasses
import hashlib
import importlib

import numpy as np
import pytest

from csdl_keras.datasets import bg_img_rot_synthetic, load
from tests.datasets.helpers import SPLITS, hashes, labels, toy_data
from tests.support.fresh_process import REPOSITORY, run_python

module = importlib.import_module("csdl_keras.datasets.bg_img_rot_synthetic")
NUMBERS = {"train": 100, "val": 20, "test": 30}


@pytest.fixture(scope="module")
def base():
    """Digits, each of which has a label and an image of its own."""
    return load("mnist_5k", train_size=150)


@pytest.fixture(scope="module")
def data(base):
    return bg_img_rot_synthetic(base, train_size=100, val_size=20, test_size=30)


def blank(sizes, label_of=lambda number: number % 10):
    """Black images `(28, 28, 1)`; their labels number them."""
    splits, start = [], 0
    for size in sizes:
        y = np.array([label_of(number) for number in range(start, start + size)])
        splits += [np.zeros((size, 28, 28, 1), dtype="float32"), y]
        start += size
    names = [f"{k}_{s}" for s in SPLITS for k in "xy"]
    arrays = dict(zip(names, splits, strict=True))
    return dataclasses.replace(toy_data(), num_classes=max(10, start), **arrays)


class TestBgImgRotSynthetic:
    def test_form(self, data):
        assert (data.name, data.num_classes, data.input_shape) == (
            "bg_img_rot_synthetic",
            10,
            (28, 28, 1),
        )
        for split, number in NUMBERS.items():
            x = getattr(data, f"x_{split}")
            assert len(x) == len(labels(data, split)) == number
            assert x.dtype == np.float32
            assert 0.0 <= x.min() < 0.1 < 0.9 < x.max() <= 1.0

    def test_no_background_is_plain(self):
        plain = bg_img_rot_synthetic(blank((300, 60, 60)))
        for split in SPLITS:
            deviations = getattr(plain, f"x_{split}").std(axis=(1, 2, 3))
            assert deviations.min() >= module.MIN_DEVIATION - 1e-6

    def test_backgrounds_are_cut_from_the_photographs(self):
        pictures = module.photographs()
        patches = bg_img_rot_synthetic(blank((20, 4, 4))).x_train[:5, :, :, 0]
        for patch in patches:
            found = False
            for picture in pictures:
                windows = np.lib.stride_tricks.sliding_window_view(picture, (28, 28))
                places = np.argwhere(windows[:, :, 0, 0] == patch[0, 0])
                found = found or any(np.array_equal(windows[y, x], patch) for y, x in places)
            assert found

    def test_digits_cover_their_background(self, base):
        """With white images, what is left of the background are the corners."""
        white = dataclasses.replace(base, x_test=np.ones_like(base.x_test))
        x = bg_img_rot_synthetic(white, test_size=20).x_test
        np.testing.assert_allclose(x[:, 2:-2, 13:15], 1.0, atol=1e-6)
        np.testing.assert_allclose(x[:, 13:15, 2:-2], 1.0, atol=1e-6)
        assert (x[:, 0, 0] < 1.0).any()

    def test_each_digit_is_used_once(self):
        split = bg_img_rot_synthetic(
            blank((50, 10, 30), label_of=lambda number: number),
            train_size=20,
            val_size=5,
            test_size=50,
        )
        train, val, test = (labels(split, name).tolist() for name in SPLITS)
        assert (len(train), len(val), len(test)) == (20, 5, 50)
        assert test[:30] == list(range(60, 90))
        assert len({*train, *val, *test}) == 75
        assert {*train, *val, *test[30:]} <= set(range(60))
        assert train != sorted(train)

    def test_few_digits_keep_the_shares(self):
        split = bg_img_rot_synthetic(blank((50, 10, 30)))
        assert [len(labels(split, name)) for name in SPLITS] == [50, 10, 30]

    def test_labels_belong_to_images(self):
        """Ones and noughts on black differ in their number of white pixels, however rotated."""
        digits = load("mnist_5k", train_size=1200)
        data = bg_img_rot_synthetic(digits)
        brightness = (data.x_train > 0.99).mean(axis=(1, 2, 3))
        means = [brightness[data.y_train == label].mean() for label in range(10)]
        assert means[0] > 1.5 * means[1]

    def test_deterministic(self, base, data):
        again = bg_img_rot_synthetic(base, train_size=100, val_size=20, test_size=30)
        other = bg_img_rot_synthetic(base, seed=1, train_size=100, val_size=20, test_size=30)
        for split in SPLITS:
            assert hashes(data, split) == hashes(again, split)
            assert not set(hashes(data, split)) & set(hashes(other, split))

    def test_the_same_in_every_process(self, data):
        code = (
            f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})\n"
            "import csdl_keras, hashlib\n"
            "base = csdl_keras.datasets.load('mnist_5k', train_size=150)\n"
            "data = csdl_keras.datasets.bg_img_rot_synthetic(base, 0, 100, 20, 30)\n"
            "print(hashlib.sha256(data.x_test.tobytes()).hexdigest())"
        )
        assert run_python(code).split() == [hashlib.sha256(data.x_test.tobytes()).hexdigest()]

    @pytest.mark.parametrize(
        "arguments",
        [{"seed": -1}, {"train_size": 0}, {"val_size": 1.5}, {"test_size": None}],
        ids=str,
    )
    def test_errors(self, base, arguments):
        with pytest.raises(ValueError, match=f"Expected `{next(iter(arguments))}`"):
            bg_img_rot_synthetic(base, **arguments)

    def test_images_of_colors(self, base):
        rgb = dataclasses.replace(base, x_train=np.repeat(base.x_train, 3, axis=-1))
        with pytest.raises(ValueError, match=r"gray images.*received 'mnist_5k'.*\(28, 28, 3\)"):
            bg_img_rot_synthetic(rgb)


class TestRotation:
    @pytest.mark.parametrize("turns", [0, 1, 2, 3])
    def test_quarter_turns(self, turns):
        images = np.random.default_rng(0).random((3, 9, 9), dtype="float32")
        rotated = module._rotated(images, np.full(3, turns * np.pi / 2))
        np.testing.assert_allclose(rotated, np.rot90(images, turns, axes=(1, 2)), atol=1e-5)

    def test_deviations(self):
        picture = np.random.default_rng(2).random((20, 30), dtype="float32")
        found = module._deviations(picture, 5, 7)
        windows = np.lib.stride_tricks.sliding_window_view(picture.astype("float64"), (5, 7))
        np.testing.assert_allclose(found, windows.std(axis=(2, 3)), atol=1e-9)
