"""A data set with its splits."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class DataSet:
    """Images and labels in three splits.

    Args:
        name: name of the data set.
        num_classes: number of classes `K`.
        x_train: float32 images `(N, height, width, channels)` in [0, 1].
        y_train: int64 labels `(N,)`, `0 <= y < K`.
        x_val: images for validation.
        y_val: labels for validation.
        x_test: images for the test.
        y_test: labels for the test.
        imbalanced: whether `imbalance` has thinned classes out.

    Example:

    >>> import csdl_keras
    >>> data = csdl_keras.datasets.load("digits")
    >>> data.x_train.shape, data.num_classes
    ((1100, 8, 8, 1), 10)
    """

    name: str
    num_classes: int
    x_train: np.ndarray
    y_train: np.ndarray
    x_val: np.ndarray
    y_val: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    imbalanced: bool = False

    @property
    def y_train_val(self) -> np.ndarray:
        """Labels of training and validation together, from which cost matrices are drawn."""
        return np.concatenate([self.y_train, self.y_val])

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one image, `(height, width, channels)`."""
        return self.x_train.shape[1:]
