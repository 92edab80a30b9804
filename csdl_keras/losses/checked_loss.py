"""The base of all losses."""

from typing import Any

import keras

from csdl_keras._ops import float_dtype
from csdl_keras._tensor_checks import check_weights, tensor_or_array


class CheckedLoss(keras.losses.Loss):
    """Base class: a loss of arrays, lists and data frames as well as of tensors.

    Keras takes a list for a structure, and hands on what it does not know.

    Args:
        reduction: as in `keras.losses.Loss`; by default the mean over the batch.
        name: name of the loss.
        dtype: dtype of the computation, by default at least float32.

    Call arguments:
        y_true: what the loss compares with.
        y_pred: `(batch, ...)` outputs of a model.
        sample_weight: `None` (default), or `(batch,)` weights.

    Raises:
        ValueError: if an array does not hold numbers, or there is no weight for each
            example.
    """

    def __init__(
        self,
        reduction: str | None = "sum_over_batch_size",
        name: str | None = None,
        dtype: Any = None,
    ):
        super().__init__(name=name, reduction=reduction, dtype=dtype or float_dtype())

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        y_true, y_pred = tensor_or_array("y_true", y_true), tensor_or_array("y_pred", y_pred)
        return super().__call__(y_true, y_pred, check_weights(sample_weight, y_pred))
