"""Rotated digits on photographs, made here."""

import dataclasses

import numpy as np

from csdl_keras._utils.checks import check_integer
from csdl_keras._utils.optional import optional_module
from csdl_keras.datasets.data_set import DataSet, check_data_set
from csdl_keras.datasets.photographs import photographs

#: Patches whose pixels deviate less from their mean (in root mean square) are refused.
MIN_DEVIATION = 0.1
#: Patches drawn for each image. About half are refused: all of them, once in 10**9 images.
_TRIES = 32


def bg_img_rot_synthetic(
    base: DataSet,
    seed: int = 0,
    train_size: int = 10_000,
    val_size: int = 2_000,
    test_size: int = 50_000,
) -> DataSet:
    """Digits, rotated and put on patches of photographs, in the manner of bg-img-rot.

    The recipe of Larochelle et al. (2007): each digit is rotated by an angle
    from U[0, 2 pi) about the middle of the image, and the background is a patch
    of a photograph, drawn at random; patches of low variance are refused. What
    they leave open is chosen here: the rotation is bilinear; an image is
    `max(digit, patch)`, pixel by pixel, so that the digit is white as in their
    pictures; patches with a standard deviation below 0.1 are refused; and the
    photographs are the 14 of `photographs`, where they took 20 from the web. As
    with them, all splits draw from the same photographs. This is not their data
    set: results on the two are alike in kind, but must not be compared.

    Each digit is used once, so that no digit is in two splits. A permutation of
    training plus validation digits gives the new training and validation sets;
    the test digits, and then what is left, the new test set. Of fewer than
    `train_size + val_size` digits, the shares of the two are kept and nothing
    is left; fewer than `test_size` are all taken.

    Args:
        base: gray images `(N, height, width, 1)` in [0, 1] of digits, white on black.
        seed: seed of `numpy.random.default_rng`. Defaults to 0.
        train_size: largest number of training images. Defaults to 10,000, as in bg-img-rot.
        val_size: largest number of validation images. Defaults to 2,000.
        test_size: largest number of test images. Defaults to 50,000.

    Returns:
        A `DataSet` with the name `"bg_img_rot_synthetic"`, float32 images in [0, 1].

    Raises:
        ValueError: if images are not gray, outside [0, 1] or of a size that patches
            cannot have, or an argument is out of range.
        ModuleNotFoundError: if scikit-image or scikit-learn is missing.

    References:
        - Larochelle, Erhan, Courville, Bergstra, Bengio, "An empirical evaluation of
          deep architectures on problems with many factors of variation", ICML 2007

    Example:

    >>> import csdl_keras
    >>> base = csdl_keras.datasets.load("mnist_5k", train_size=120)
    >>> data = bg_img_rot_synthetic(base, test_size=50)
    >>> data.x_train.shape, len(data.y_val), len(data.y_test)
    ((100, 28, 28, 1), 20, 50)
    """
    check_data_set("base", base)
    check_integer("seed", seed, low=0)
    wanted = {"train_size": train_size, "val_size": val_size, "test_size": test_size}
    for name, size in wanted.items():
        check_integer(name, size)
    if len(base.input_shape) != 3 or base.input_shape[-1] != 1:
        raise ValueError(
            "Expected `base` to have gray images (height, width, 1); received "
            f"{base.name!r}, whose images have the shape {base.input_shape}."
        )
    for x in (base.x_train, base.x_val, base.x_test):
        if not (x.min() >= 0.0 and x.max() <= 1.0):
            raise ValueError(
                f"Expected images in [0, 1]; {base.name!r} has some from {x.min()} to {x.max()}."
            )
    rng = np.random.default_rng(seed)
    pool, labels = np.concatenate([base.x_train, base.x_val]), base.y_train_val
    order = rng.permutation(len(labels))
    total = min(len(labels), train_size + val_size)
    in_train = total - round(total * val_size / (train_size + val_size))
    if not 0 < in_train < total:
        raise ValueError(
            "Expected `train_size` and `val_size` of which each gets some of "
            f"{total} digits; received {train_size} and {val_size}."
        )
    rest = order[total:]
    digits = {
        "train": (pool[order[:in_train]], labels[order[:in_train]]),
        "val": (pool[order[in_train:total]], labels[order[in_train:total]]),
        "test": (
            np.concatenate([base.x_test, pool[rest]])[:test_size],
            np.concatenate([base.y_test, labels[rest]])[:test_size],
        ),
    }
    backgrounds = photographs()
    splits = {}
    for split, (x, y) in digits.items():
        angles = rng.uniform(0.0, 2.0 * np.pi, size=len(y))
        rotated = _rotated(x[..., 0], angles)
        patches = _patches(backgrounds, len(y), *base.input_shape[:2], rng)
        splits[f"x_{split}"] = np.maximum(rotated, patches)[..., None]
        splits[f"y_{split}"] = y
    return dataclasses.replace(base, name="bg_img_rot_synthetic", **splits)


def _rotated(images: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Images `(N, height, width)`, each rotated by its angle in radians, counterclockwise."""
    rotate = optional_module("scipy.ndimage", "compare").rotate
    rotated = [
        rotate(image, angle, reshape=False, order=1, mode="grid-constant")
        for image, angle in zip(images, np.degrees(angles), strict=True)
    ]
    return np.clip(np.stack(rotated).astype("float32"), 0.0, 1.0)


def _patches(
    pictures: list[np.ndarray], number: int, height: int, width: int, rng: np.random.Generator
) -> np.ndarray:
    """Random patches `(number, height, width)` of pictures, none of low variance."""
    # All candidates are drawn in advance: a picture that another decoder reads with other last
    # bits changes no more than the patches cut from it.
    smallest = tuple(np.min([picture.shape for picture in pictures], axis=0).tolist())
    if height > smallest[0] or width > smallest[1]:
        raise ValueError(
            f"Expected images no larger than any photograph, {smallest}; received "
            f"{(height, width)}."
        )
    which = rng.integers(len(pictures), size=(number, _TRIES))
    share_y, share_x = rng.random((2, number, _TRIES))
    sizes = np.array([picture.shape for picture in pictures]) - (height - 1, width - 1)
    top = (share_y * sizes[which, 0]).astype(int)
    left = (share_x * sizes[which, 1]).astype(int)
    accepted = np.empty(which.shape, dtype=bool)
    for index, picture in enumerate(pictures):
        chosen = which == index
        deviation = _deviations(picture, height, width)
        accepted[chosen] = deviation[top[chosen], left[chosen]] >= MIN_DEVIATION
    if not accepted.any(axis=1).all():
        raise ValueError(
            "Expected images so large that some patches of photographs vary within; received "
            f"{(height, width)}."
        )
    first = accepted.argmax(axis=1)
    patches = np.empty((number, height, width), dtype="float32")
    for row, column in enumerate(first):
        y, x = top[row, column], left[row, column]
        patches[row] = pictures[which[row, column]][y : y + height, x : x + width]
    return patches


def _deviations(picture: np.ndarray, height: int, width: int) -> np.ndarray:
    """Standard deviation of each patch of a picture, by its upper left pixel."""
    means = []
    for values in (picture.astype("float64"), picture.astype("float64") ** 2):
        sums = np.pad(values, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1)
        inside = sums[height:, width:] - sums[:-height, width:]
        inside += sums[:-height, :-width] - sums[height:, :-width]
        means.append(inside / (height * width))
    return np.sqrt(np.maximum(means[1] - means[0] ** 2, 0.0))
