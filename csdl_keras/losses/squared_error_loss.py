"""The squared error of auto-encoders, summed over inputs."""

from typing import Any

import keras
from keras import ops

from csdl_keras._tensor_checks import same_shape
from csdl_keras.losses.checked_loss import CheckedLoss
from csdl_keras.losses.reconstruction_loss import sum_over_inputs


@keras.saving.register_keras_serializable(package="csdl_keras")
class SquaredErrorLoss(CheckedLoss):
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
        super().__init__(reduction=reduction, name=name, dtype=dtype)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        x, t = same_shape("(batch, ...)", inputs=y_true, reconstructions=y_pred)
        return sum_over_inputs(ops.square(x - t))
