"""Poisson regression of the costs of the observed class."""

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.tensors import LOG_ZERO, alike, at_least_float32
from csdl_keras._utils.types import Tensor
from csdl_keras.costs._tensors import class_index
from csdl_keras.losses.checked_loss import CheckedLoss
from csdl_keras.losses.poisson_cost_loss import poisson_cost


@keras.saving.register_keras_serializable(package="csdl_keras")
class ObservedCostLoss(CheckedLoss):
    """Computes half the Poisson deviance of costs from those estimated for the true class.

    `poisson_cost(c, U[y])`, where `U` holds the logarithm of each decision's cost
    under each class, `-inf` where it is known to be 0. An example of class `y`
    shows what decisions cost if `y` is true, and nothing about other classes. See
    `csdl_keras.models.expected_cost_model`.

    Args:
        reduction: as in `keras.losses.Loss`. Defaults to the mean over the batch.
        name: name of the loss.
        dtype: dtype of the computation; `None` (default) is at least float32.

    Call arguments:
        y_true: `(batch, 1 + D)`, the label and the cost vector, as
            `csdl_keras.models.labelled_costs` joins them. A label that is no class,
            or a cost that is negative or infinite where it is not known to be 0,
            makes the loss NaN.
        y_pred: `(batch, K, D)` logarithms of costs. The loss of an example with NaN or
            infinity among them is not finite.

    Raises:
        ValueError: if the shapes do not match or an array holds no numbers.

    Example:

    >>> loss = ObservedCostLoss()
    >>> log_costs = np.log([[[0.5, 2.0], [1.0, 1.0]]])
    >>> print(round(float(loss(np.array([[0, 0.0, 2.0]]), log_costs)), 4))
    0.5
    """

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        y_true, log_costs = at_least_float32(y_true, y_pred)
        batch, *size = log_costs.shape
        if len(size) != 2 or not alike(tuple(y_true.shape), (batch, 1 + size[1])):
            raise ValueError(
                "Expected `y_true` of shape (batch, 1 + D), label and costs, and `y_pred` of "
                f"shape (batch, K, D); received {tuple(y_true.shape)} and "
                f"{tuple(log_costs.shape)}."
            )
        costs = y_true[:, 1:]
        index, known = class_index(y_true[:, 0], log_costs.shape[1])
        # The sum over classes of a one-hot product is the row of the example's own class.
        chosen = ops.one_hot(index, log_costs.shape[1], dtype=log_costs.dtype)
        possible = ops.logical_not(log_costs < 0.5 * LOG_ZERO)  # NaN counts as possible and stays.
        rows = ops.sum(chosen[:, :, None] * ops.where(possible, log_costs, 0.0), axis=1)
        counted = ops.sum(chosen[:, :, None] * ops.cast(possible, rows.dtype), axis=1) > 0
        # Nothing is estimated for decisions that are known to cost nothing.
        deviance = poisson_cost(ops.where(counted, costs, 0.0), ops.where(counted, rows, -1e4))
        return ops.where(known, deviance, ops.cast(np.nan, deviance.dtype))
