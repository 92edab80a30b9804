"""Development sets for trials on images, from training images alone: no test image is looked at."""

import dataclasses
from collections.abc import Callable

import numpy as np

import csdl_keras as csdl

SEED = 7


@dataclasses.dataclass(frozen=True)
class DevelopmentSet:
    """Examples that networks learn from, that calibrate them, and that tell what they cost."""

    x_train: np.ndarray
    y_train: np.ndarray
    x_val: np.ndarray
    y_val: np.ndarray
    x_eval: np.ndarray
    y_eval: np.ndarray


def split(x: np.ndarray, y: np.ndarray, train: int, val: int, evaluation: int) -> DevelopmentSet:
    """Draws three parts of some sizes at random."""
    order = np.random.default_rng(SEED).permutation(len(x))
    if train + val + evaluation > len(x):
        raise ValueError(f"Expected {train + val + evaluation} images or more; received {len(x)}.")
    parts = np.split(order, np.cumsum([train, val, evaluation]))[:3]
    arrays = [array for part in parts for array in (x[part].astype("float32"), y[part])]
    return DevelopmentSet(*arrays)


def _images(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns training and validation images of a data set."""
    data = csdl.datasets.load(name)
    return np.concatenate([data.x_train, data.x_val]), data.y_train_val


def _digits_of_mnist() -> tuple[np.ndarray, np.ndarray]:
    """Returns MNIST's training images without those of `mnist_5k`, whose tests are reported."""
    small = csdl.datasets.load("mnist_5k")
    known = {_code(it) for part in (small.x_train, small.x_val, small.x_test) for it in part}
    x, y = _images("mnist")
    new = np.array([_code(image) not in known for image in x])
    return x[new], y[new]


def _code(image: np.ndarray) -> bytes:
    return np.round(255 * image).astype("uint8").tobytes()


def _mnist() -> DevelopmentSet:
    return split(*_digits_of_mnist(), 3500, 500, 10_000)


def _mnist_imbalanced() -> DevelopmentSet:
    x, y = _digits_of_mnist()
    generator = np.random.default_rng(SEED)
    rare = np.isin(y, generator.choice(10, 4, replace=False))
    kept = ~rare | (generator.uniform(size=len(y)) < 0.3)
    return split(x[kept], y[kept], 2520, 360, 8000)


def _rotated_digits() -> DevelopmentSet:
    return split(*_images("bg_img_rot_synthetic"), 4000, 600, 7000)


def _cifar10() -> DevelopmentSet:
    return split(*_images("cifar10"), 8500, 1500, 10_000)


def _gray_cifar10() -> DevelopmentSet:
    x, y = _images("cifar10")
    return split(x.mean(axis=-1, keepdims=True)[:, 2:30, 2:30], y, 8500, 1500, 10_000)


SETS: dict[str, Callable[[], DevelopmentSet]] = {
    "mnist": _mnist,
    "mnist_imbalanced": _mnist_imbalanced,
    "rotated_digits": _rotated_digits,
    "cifar10": _cifar10,
    "gray_cifar10": _gray_cifar10,
}
