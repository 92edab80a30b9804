"""The squared error of auto-encoders, summed over inputs."""

from typing import Any

import keras
from keras import ops

from csdl_keras._ops import at_least_float32, float_dtype
from csdl_keras.losses.reconstruction_loss import check_same_shape, sum_over_inputs


@keras.saving.register_keras_serializable(package="csdl_keras")
class SquaredErrorLoss(keras.losses.Loss):
    """Squared error of a reconstruction, summed over inputs, averaged over the batch.

    `sum_j (x_j - t_j)^2`: the reconstruction loss for inputs that are not
    confined to [0, 1], with a linear decoder.

    Args:
        reduction: as in `keras.losses.Loss`. Defaults to the mean over the batch.
        name: name of the loss.
        dtype: dtype of the computation, by default at least float32.

    Raises:
        ValueError: if the shapes of `y_true` and `y_pred` differ.

    References:
        - [Vincent et al.: Stacked Denoising Autoencoders, JMLR 2010,
          section 2.2](https://jmlr.org/papers/v11/vincent10a.html)

    Example:

    >>> import numpy as np
    >>> print(float(SquaredErrorLoss()(np.array([[0.0, 3.0]]), np.array([[1.0, 1.0]]))))
    5.0
    """

    def __init__(
        self,
        reduction: str | None = "sum_over_batch_size",
        name: str | None = "squared_error_loss",
        dtype: Any = None,
    ):
        super().__init__(name=name, reduction=reduction, dtype=dtype or float_dtype())

    def call(self, y_true: Any, y_pred: Any) -> Any:
        x, t = at_least_float32(y_true, y_pred)
        check_same_shape(x, t)
        return sum_over_inputs(ops.square(x - t))
