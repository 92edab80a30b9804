"""The base class of losses that take arrays, lists and data frames."""

import keras

from csdl_keras._utils.example_axes import check_weights
from csdl_keras._utils.kept_values import restoring_values
from csdl_keras._utils.tensors import default_name, float_dtype, tensor_or_array
from csdl_keras._utils.types import DTypeLike, Tensor


class CheckedLoss(keras.losses.Loss):
    """Base class of losses that take arrays, lists and data frames as well as tensors.

    Keras itself takes a list for a structure of tensors and does not convert data frames.
    The arguments are those of `keras.losses.Loss`, but the default name is the class's name
    in snake case, and the default dtype is at least float32.
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

    @restoring_values
    def __call__(
        self, y_true: Tensor, y_pred: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        y_true, y_pred = tensor_or_array("y_true", y_true), tensor_or_array("y_pred", y_pred)
        return super().__call__(y_true, y_pred, self.checked_weights(sample_weight, y_pred))

    def checked_weights(self, sample_weight: Tensor | None, y_pred: Tensor) -> Tensor:
        """Returns a weight for each value of the loss, by default one for each example."""
        return check_weights(sample_weight, y_pred)
