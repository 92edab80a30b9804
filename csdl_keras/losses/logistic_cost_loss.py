"""Logistic regression of costs that have an upper limit."""

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.tensors import same_shape
from csdl_keras._utils.types import ArrayLike, DTypeLike, Tensor
from csdl_keras.losses.cost_loss import CostLoss


def logistic_cost(costs: Tensor, logits: Tensor) -> Tensor:
    """Computes the cross-entropy between costs in [0, 1] and estimates, summed over decisions.

    `sum_k ln(1 + exp(u_k)) - c_k u_k`. Its expectation over costs is smallest
    at `sigmoid(u_k) = E[c_k]`, so estimates and decisions are consistent.

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
    # A scale such as 1 / C.max() is rounded to float32, so the largest cost may exceed 1 a little.
    possible = ops.logical_and(costs >= 0.0, costs <= 1.0 + 1e-6)
    costs = ops.where(possible, costs, ops.cast(np.nan, costs.dtype))
    return ops.sum(ops.softplus(scores) - costs * scores, axis=-1)


@keras.saving.register_keras_serializable(package="csdl_keras")
class LogisticCostLoss(CostLoss):
    """Computes the cross-entropy between costs with an upper limit and their estimates.

    `sum_k ln(1 + exp(u_k)) - c_k u_k`, averaged over the batch, for costs in
    [0, 1] after `cost_scale`; see `logistic_cost`. The model's outputs `u`, of a
    `CostOutput`, are **logits** of estimated costs. Their argmin is the decision
    as well; `models.cost_estimator` turns them into costs.

    Its gradients are bounded, which makes training robust. Where costs span
    orders of magnitude, `PoissonCostLoss` estimates small ones more exactly.

    Args:
        cost_matrix: `None` (default) for cost vectors, `(K, D)` for integer labels,
            as in `SOSRLoss`.
        cost_scale: factor above 0 that brings the largest cost to at most 1, such
            as `1 / C.max()`. Defaults to 1. A cost vector with a larger cost
            makes the loss NaN.
        reduction: as in `keras.losses.Loss`. Defaults to the mean over the batch.
        name: name of the loss.
        dtype: dtype of the computation; `None` (default) is at least float32.

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
        cost_matrix: ArrayLike | None = None,
        cost_scale: float = 1.0,
        reduction: str | None = "sum_over_batch_size",
        name: str | None = "logistic_cost_loss",
        dtype: DTypeLike | None = None,
    ):
        super().__init__(cost_matrix, cost_scale, reduction=reduction, name=name, dtype=dtype)
        if self.cost_matrix is not None:
            largest = self.cost_matrix.max() * self.cost_scale
            if largest > 1 + 1e-6:
                raise ValueError(
                    f"Expected costs of at most 1 after `cost_scale`; received {largest:g}. "
                    f"Pass cost_scale={1 / self.cost_matrix.max():g}."
                )

    def cost_loss(self, costs: Tensor, estimates: Tensor) -> Tensor:
        return logistic_cost(costs, estimates)
