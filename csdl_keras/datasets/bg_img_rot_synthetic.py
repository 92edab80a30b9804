"""Generates a substitute for bg-img-rot: rotated digits on patches of photographs."""

import dataclasses

import numpy as np

from csdl_keras.datasets.data_set import DataSet
from csdl_keras.datasets.variants import luma
from csdl_keras_cli.optional import optional_module

#: Largest numbers of images for training, validation and test, as in bg-img-rot.
SIZES = (10_000, 2_000, 50_000)
#: Smallest standard deviation of pixels at which a patch is accepted.
MIN_DEVIATION = 0.1
#: Number of candidate patches of an image. About half are rejected, all for 1 image in 10**9.
_CANDIDATES = 32
#: Photographs in scikit-image's wheels; its other pictures are downloaded or not photographs.
_SCIKIT_IMAGE_NAMES = (
    "astronaut brick camera chelsea clock coffee coins grass gravel moon rocket stereo_motorcycle"
).split()


def bg_img_rot_synthetic(base: DataSet, seed: int = 0) -> DataSet:
    """Rotates digits and puts them on patches of photographs, like bg-img-rot.

    Follows Larochelle et al. (2007): each digit is rotated by an angle from U[0, 2 pi), and the
    background is a random patch of a photograph that varies. That paper leaves some details open;
    here, the rotation is bilinear, an image is the pixelwise `max(digit, patch)`, patches with a
    standard deviation below 0.1 are rejected, and the photographs are the 14 of scikit-image and
    scikit-learn. Do not compare results with those on the original.

    Each digit is used once. The training and validation digits are permuted and divided into the
    new training and validation sets; the test digits, followed by the remaining ones, form the new
    test set, up to the 10,000 / 2,000 / 50,000 of bg-img-rot. With fewer than 12,000 digits, the
    training and validation sets keep their proportion.

    Args:
        base: gray images `(N, height, width, 1)` in [0, 1] of digits, white on black.
        seed: seed of `numpy.random.default_rng`. Defaults to 0.

    Returns:
        A `DataSet` with the name `"bg_img_rot_synthetic"`, float32 images in [0, 1].

    References:
        - Larochelle, Erhan, Courville, Bergstra, Bengio, "An empirical evaluation of
          deep architectures on problems with many factors of variation", ICML 2007

    Example:

    >>> import csdl_keras
    >>> base = csdl_keras.datasets.load("mnist_5k", train_size=120)
    >>> data = bg_img_rot_synthetic(base)
    >>> data.x_train.shape, len(data.y_val), len(data.y_test)
    ((100, 28, 28, 1), 20, 1000)
    """
    if len(base.input_shape) != 3 or base.input_shape[-1] != 1:
        raise ValueError(
            f"`base` needs gray images (height, width, 1); those of {base.name!r} have the shape "
            f"{base.input_shape}."
        )
    rng, (train_size, val_size, test_size) = np.random.default_rng(seed), SIZES
    pool, labels = np.concatenate([base.x_train, base.x_val]), base.y_train_val
    order = rng.permutation(len(labels))
    total = min(len(labels), train_size + val_size)
    in_train = total - round(total * val_size / (train_size + val_size))
    train, val, rest = np.split(order, [in_train, total])
    x_test, y_test = (np.r_[base.x_test, pool[rest]], np.r_[base.y_test, labels[rest]])
    digits = {"train": (pool[train], labels[train]), "val": (pool[val], labels[val])}
    digits["test"] = x_test[:test_size], y_test[:test_size]
    backgrounds = photographs()
    splits = {}
    for split, (x, y) in digits.items():
        angles = rng.uniform(0.0, 2.0 * np.pi, size=len(y))
        rotated = _rotated(x[..., 0], angles)
        patches = _patches(backgrounds, len(y), *base.input_shape[:2], rng)
        splits[f"x_{split}"] = np.maximum(rotated, patches)[..., None]
        splits[f"y_{split}"] = y
    return dataclasses.replace(base, name="bg_img_rot_synthetic", **splits)


def photographs() -> list[np.ndarray]:
    """Loads the 14 photographs included in scikit-image and scikit-learn, gray and in [0, 1]."""
    from sklearn.datasets import load_sample_images  # This is slow to import.

    library = optional_module("skimage.data", "compare")
    pictures = [getattr(library, name)() for name in _SCIKIT_IMAGE_NAMES]
    # A stereo pair is a tuple of two pictures and their disparity; only the left one is used.
    pictures = [entry[0] if isinstance(entry, tuple) else entry for entry in pictures]
    pictures += load_sample_images().images
    scaled = [picture.astype("float32") / np.float32(255) for picture in pictures]
    return [luma(picture)[..., 0] if picture.ndim == 3 else picture for picture in scaled]


def _rotated(images: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Rotates each of the images `(N, height, width)` counterclockwise by its angle in radians."""
    from scipy.ndimage import rotate  # This is slow to import.

    rotated = [
        rotate(image, angle, reshape=False, order=1, mode="grid-constant")
        for image, angle in zip(images, np.degrees(angles), strict=True)
    ]
    return np.clip(np.stack(rotated).astype("float32"), 0.0, 1.0)


def _patches(
    pictures: list[np.ndarray], number: int, height: int, width: int, rng: np.random.Generator
) -> np.ndarray:
    """Cuts random patches `(number, height, width)` from pictures, none of low variance."""
    # All candidates are drawn in advance: if another decoder changes the last bits of a picture,
    # only the patches cut from this picture change.
    which = rng.integers(len(pictures), size=(number, _CANDIDATES))
    share_y, share_x = rng.random((2, number, _CANDIDATES))
    sizes = np.array([picture.shape for picture in pictures]) - (height - 1, width - 1)
    top = (share_y * sizes[which, 0]).astype(int)
    left = (share_x * sizes[which, 1]).astype(int)
    patches = np.empty((number, height, width), dtype="float32")
    for row in range(number):
        for picture, y, x in zip(which[row], top[row], left[row], strict=True):
            patches[row] = pictures[picture][y : y + height, x : x + width]
            if patches[row].std(dtype="float64") >= MIN_DEVIATION:
                break
    return patches
