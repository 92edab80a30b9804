"""Logistic regression of costs between 0 and an upper end."""

from typing import Any

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.tensors import same_shape
from csdl_keras.losses.base import CostLoss


def logistic_cost(costs: Any, logits: Any) -> Any:
    """The cross-entropy between costs in [0, 1] and their estimates, summed over decisions.

    `sum_k ln(1 + exp(u_k)) - c_k u_k`. Its expectation over costs is smallest
    at `sigmoid(u_k) = E[c_k]`: the estimates are consistent, and so are decisions.

    Args:
        costs: `(batch, D)` cost vectors `c`, in [0, 1].
        logits: `(batch, D)`, the logits `u` of estimated costs.

    Returns:
        `(batch,)`, float32 or wider; NaN for an example with a cost outside [0, 1].

    Raises:
        ValueError: if the shapes differ or an array holds no numbers.

    Example:

    >>> import numpy as np
    >>> loss = logistic_cost(np.array([[0.0, 1.0]]), np.array([[0.0, 2.0]]))
    >>> print(np.round(ops.convert_to_numpy(loss), 4))
    [0.8201]
    """
    hint = "There is one estimate for each decision."
    costs, scores = same_shape("(batch, D)", hint, most=2, costs=costs, logits=logits)
    # Half a unit in the last place of float32 is the rounding of a scale such as 1 / C.max().
    possible = ops.logical_and(costs >= 0.0, costs <= 1.0 + 1e-6)
    costs = ops.where(possible, costs, ops.cast(np.nan, costs.dtype))
    return ops.sum(ops.softplus(scores) - costs * scores, axis=-1)


@keras.saving.register_keras_serializable(package="csdl_keras")
class LogisticCostLoss(CostLoss):
    """Logistic regression of costs: consistent estimates of costs that have an upper end.

    `sum_k ln(1 + exp(u_k)) - c_k u_k`, averaged over the batch, for costs in
    [0, 1] after `cost_scale`; see `logistic_cost`. The outputs `u` of the model,
    of a `CostOutput`, are **logits** of estimated costs, whose argmin is the
    decision as well; `models.cost_estimator` turns them into costs.

    Bounded gradients make it robust; where costs span magnitudes, small ones
    are estimated less exactly than by `PoissonCostLoss`.

    Args:
        cost_matrix: `None` (default) if `y_true` holds cost vectors
            `(batch, D)`; `(K, D)`, `C[true, decision]`, if it holds integer
            labels, `(batch,)` or `(batch, 1)`.
        cost_scale: factor above 0 by which costs are multiplied, such that the
            largest is at most 1: `1 / C.max()`. Defaults to 1. A cost vector
            with a larger one makes the loss NaN.
        reduction: as in `keras.losses.Loss`. Defaults to the mean over the batch.
        name: name of the loss.
        dtype: dtype of the computation, by default at least float32.

    Raises:
        ValueError: if the matrix fails its check or is above 1 after scaling,
            or the shapes of `y_true` and `y_pred` do not match.

    Example:

    >>> import numpy as np
    >>> loss = LogisticCostLoss(cost_matrix=[[0.0, 2.0], [1.0, 0.0]], cost_scale=0.5)
    >>> print(round(float(loss(np.array([0]), np.array([[0.0, 2.0]]))), 4))
    0.8201
    """

    prices_any_decision = True

    def __init__(
        self,
        cost_matrix: Any = None,
        cost_scale: float = 1.0,
        reduction: str | None = "sum_over_batch_size",
        name: str | None = "logistic_cost_loss",
        dtype: Any = None,
    ):
        super().__init__(cost_matrix, cost_scale, reduction=reduction, name=name, dtype=dtype)
        if self.cost_matrix is not None:
            largest = self.cost_matrix.max() * self.cost_scale
            if largest > 1 + 1e-6:
                raise ValueError(
                    f"Expected costs of at most 1 after `cost_scale`; received {largest:g}. "
                    f"Pass cost_scale={1 / self.cost_matrix.max():g}."
                )

    def cost_loss(self, costs: Any, estimates: Any) -> Any:
        return logistic_cost(costs, estimates)
