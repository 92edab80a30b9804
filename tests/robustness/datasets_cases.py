"""Each function of `datasets`: right arguments, and what its documentation says."""

import dataclasses
import os

import numpy as np

from csdl_keras import datasets
from csdl_keras.datasets import DataSet
from tests.datasets.helpers import SPLITS, toy_data
from tests.robustness.documented import is_integer, is_number
from tests.robustness.outcome import Case

RNG = np.random.default_rng(0)
TOY, LARGE = toy_data(), toy_data(per_class=100)
LARGEST_SEED = 2**32 - 1


def with_images(*shape):
    """The toy set with other images."""
    images = {f"x_{split}": len(getattr(TOY, f"y_{split}")) for split in SPLITS}
    drawn = {name: RNG.uniform(size=(size, *shape)) for name, size in images.items()}
    return dataclasses.replace(TOY, **{name: x.astype("float32") for name, x in drawn.items()})


GRAY, COLOUR = with_images(8, 8, 1), with_images(4, 4, 3)


def is_seed(seed, high=np.inf):
    return is_integer(seed, 0, high)


def is_finite_set(data):
    """Whether every split has images that are numbers, and labels of the classes."""
    splits = [(getattr(data, f"x_{split}"), getattr(data, f"y_{split}")) for split in SPLITS]
    return all(np.isfinite(x).all() and set(y) <= set(range(data.num_classes)) for x, y in splits)


def thinned(result, data, seed, fraction, num_rare):
    gone = np.bincount(data.y_train) - np.bincount(result.y_train, minlength=5)
    return sorted(gone) == [0] * (5 - num_rare) + [round(12 * fraction)] * num_rare


def loaded(result, name, imbalanced, train_size, seed, data_dir, grayscale):
    return result.imbalanced == imbalanced and is_finite_set(result)


CASES = {
    "imbalance": Case(
        datasets.imbalance,
        lambda rng, k: (TOY, int(rng.integers(9)), 0.5, k),
        lambda data, seed, fraction, rare: (
            isinstance(data, DataSet)
            and is_seed(seed)
            and (is_number(fraction, 0, 1) or str(fraction) in ("0", "0.0"))
            and fraction != 1
            and is_integer(rare, 1, 5)
        ),
        holds=thinned,
    ),
    "subset": Case(
        datasets.subset,
        lambda rng, k: (TOY, 40 + k, int(rng.integers(9))),
        lambda data, size, seed: (
            isinstance(data, DataSet) and is_integer(size, 20, 80) and is_seed(seed, LARGEST_SEED)
        ),
        holds=lambda result, data, size, seed: len(result.y_train_val) == size,
    ),
    "grayscale": Case(
        datasets.grayscale,
        lambda rng, k: (COLOUR,),
        lambda data: isinstance(data, DataSet),
        holds=lambda result, data: result.input_shape == (4, 4, 1) and is_finite_set(result),
    ),
    "bg_img_rot_synthetic": Case(
        datasets.bg_img_rot_synthetic,
        lambda rng, k: (GRAY, int(rng.integers(9)), 2 * k, k, k),
        lambda data, seed, *sizes: (
            isinstance(data, DataSet)
            and is_seed(seed)
            and all(is_integer(size, 1) for size in sizes)
            and max(sizes[:2]) < 2**62  # the other one would get no digit
        ),
        holds=lambda result, data, seed, train, val, test: (
            len(result.y_test) == min(test, 20 + max(0, 80 - train - val))
            and is_finite_set(result)
            and max(x.max() for x in (result.x_train, result.x_test)) <= 1
        ),
    ),
    "load": Case(
        datasets.load,
        lambda rng, k: ("toy", bool(rng.integers(2)), 100, int(rng.integers(9)), None, False),
        lambda name, imbalanced, size, seed, folder, gray: (
            str(name) == "toy"
            and all(isinstance(flag, bool) for flag in (imbalanced, gray))
            and (size is None or is_integer(size, 100, 176))
            and is_seed(seed, LARGEST_SEED)
            and (folder is None or isinstance(folder, (str, os.PathLike)))
        ),
        holds=loaded,
    ),
}
