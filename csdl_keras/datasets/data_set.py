"""Defines data sets with training, validation and test splits."""

import dataclasses

import numpy as np

from csdl_keras._utils.arrays import check_rows
from csdl_keras._utils.checks import check_integer
from csdl_keras.costs import check_labels


@dataclasses.dataclass(frozen=True, repr=False)
class DataSet:
    """Images and labels in three splits.

    Args:
        name: name of the data set.
        num_classes: number of classes `K`.
        x_train, x_val, x_test: float32 images `(N, height, width, channels)` in [0, 1].
        y_train, y_val, y_test: int64 labels `(N,)`, `0 <= y < K`.
        imbalanced: whether `imbalance` has made classes rare. Defaults to False.

    Example:

    >>> import csdl_keras
    >>> data = csdl_keras.datasets.load("digits")
    >>> data.x_train.shape, data.num_classes
    ((1100, 8, 8, 1), 10)
    >>> data
    <DataSet 'digits': 10 classes, images (8, 8, 1), 1100 training, 157 validation, 540 test>
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

    def __post_init__(self) -> None:
        check_integer("num_classes", self.num_classes, low=2)
        for split in ("train", "val", "test"):
            x, y = getattr(self, f"x_{split}"), getattr(self, f"y_{split}")
            if x.ndim != 4 or 0 in x.shape or x.dtype != np.float32:
                raise ValueError(
                    f"Expected `x_{split}` to be float32 images (N, height, width, channels); "
                    f"received shape {x.shape}, dtype {x.dtype}."
                )
            check_rows(f"x_{split}", x, len(check_labels(y, self.num_classes)))

    def __repr__(self) -> str:
        training, validation, test = map(len, (self.y_train, self.y_val, self.y_test))
        return (
            f"<DataSet {self.name!r}{', imbalanced' if self.imbalanced else ''}: "
            f"{self.num_classes} classes, images {self.input_shape}, {training} training, "
            f"{validation} validation, {test} test>"
        )

    @property
    def y_train_val(self) -> np.ndarray:
        """Labels of training and validation together, from which cost matrices are drawn."""
        return np.concatenate([self.y_train, self.y_val])

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one image, `(height, width, channels)`."""
        return self.x_train.shape[1:]
