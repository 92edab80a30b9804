"""The base class of losses."""

import keras

from csdl_keras._utils.tensors import (
    check_weights,
    default_name,
    float_dtype,
    tensor_or_array,
)
from csdl_keras._utils.types import DTypeLike, Tensor


class CheckedLoss(keras.losses.Loss):
    """Base class of losses that take arrays, lists and data frames as well as tensors.

    Keras itself takes a list for a structure of tensors and does not convert data frames.

    Args:
        reduction: as in `keras.losses.Loss`. Defaults to the mean over the batch.
        name: name of the loss; `None` (default) is the class's name in snake case.
        dtype: dtype of the computation; `None` (default) is at least float32.

    Call arguments:
        y_true: targets.
        y_pred: `(batch, ...)` outputs of a model.
        sample_weight: `None` (default), or `(batch,)` weights.

    Raises:
        ValueError: if an array does not hold numbers, or the weights are not one for each
            example.
    """

    def __init__(
        self,
        reduction: str | None = "sum_over_batch_size",
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ):
        super().__init__(
            name=name or default_name(self), reduction=reduction, dtype=dtype or float_dtype()
        )

    def __call__(
        self, y_true: Tensor, y_pred: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        y_true, y_pred = tensor_or_array("y_true", y_true), tensor_or_array("y_pred", y_pred)
        return super().__call__(y_true, y_pred, check_weights(sample_weight, y_pred))
