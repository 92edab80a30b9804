"""Losses for consistent regression of costs (Poisson, logistic), and the expected cost."""

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.tensors import (
    LOG_ZERO,
    at_least_float32,
    examples_shape,
    same_shape,
    tensor_or_array,
)
from csdl_keras._utils.types import Tensor
from csdl_keras.costs._tensors import known_rows
from csdl_keras.losses.base import CheckedLoss, CostLoss


def poisson_cost(costs: Tensor, log_estimates: Tensor) -> Tensor:
    """Computes half the Poisson deviance of each example, summed over decisions.

    `sum_k exp(u_k) - c_k u_k + c_k ln c_k - c_k >= 0`. Its expectation over costs is smallest at
    `exp(u_k) = E[c_k]`, so estimates and decisions are consistent.

    Args:
        costs: `(..., D)` cost vectors `c`, not negative.
        log_estimates: `(..., D)`, the logarithms `u` of estimated costs.

    Returns:
        `(...,)`, float32 or wider; NaN for a cost that is negative, infinite or NaN.

    Example:

    >>> import numpy as np
    >>> loss = poisson_cost(np.array([[0.0, 2.0]]), np.log([[0.5, 2.0]]))
    >>> print(np.round(ops.convert_to_numpy(loss), 4))
    [0.5]
    """
    costs, scores = same_shape("(..., D)", costs=costs, log_estimates=log_estimates)
    costs = ops.where(costs >= 0.0, costs, ops.cast(np.nan, costs.dtype))
    # This does not depend on the estimates and makes the loss 0 at its minimum; c ln c is 0 at 0.
    # Backends treat numbers below the smallest normal one as 0.
    own = costs * ops.log(ops.maximum(costs, float(np.finfo("float32").tiny))) - costs
    return ops.sum(ops.exp(scores) - costs * scores + own, axis=-1)


@keras.saving.register_keras_serializable(package="csdl_keras")
class PoissonCostLoss(CostLoss):
    """Computes half the Poisson deviance of costs from their estimates.

    `poisson_cost`, averaged over the batch. The model's outputs `u`, of a `CostOutput`, are
    **logarithms** of estimated costs, which `models.cost_estimator` turns into costs. Their argmin
    is the decision, even with decisions that are not classes, such as abstaining. If a few examples
    are far more costly than the rest, clip gradients: `keras.optimizers.Adam(global_clipnorm=1.0)`.
    Arguments are those of `SOSRLoss` except `alpha`; the matrix may be `(K, D)`.

    References:
        - McCullagh, Nelder: Generalized linear models, chapter 6 (1989)

    Example:

    >>> import numpy as np
    >>> loss = PoissonCostLoss(cost_matrix=[[0.0, 2.0], [1.0, 0.0]])
    >>> print(round(float(loss(np.array([0]), np.log([[0.5, 2.0]]))), 4))
    0.5
    """

    prices_any_decision = True

    def cost_loss(self, costs: Tensor, estimates: Tensor) -> Tensor:
        return poisson_cost(costs, estimates)


@keras.saving.register_keras_serializable(package="csdl_keras")
class ObservedCostLoss(CheckedLoss):
    """Computes half the Poisson deviance of costs from those estimated for the true class.

    `poisson_cost(c, U[y])`, where `U` are logarithms of each decision's cost under each class,
    `-inf` for 0; see `models.expected_cost_model`. Arguments are those of `keras.losses.Loss`.

    Call arguments:
        y_true: `(batch, 1 + D)`, the label and the cost vector, as joined by
            `csdl_keras.models.labelled_costs`. The loss is NaN for invalid labels and costs.
        y_pred: `(batch, K, D)` logarithms of costs.

    Example:

    >>> loss = ObservedCostLoss()
    >>> log_costs = np.log([[[0.5, 2.0], [1.0, 1.0]]])
    >>> print(round(float(loss(np.array([[0, 0.0, 2.0]]), log_costs)), 4))
    0.5
    """

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        y_true, log_costs = at_least_float32(y_true, y_pred)
        rows = known_rows(log_costs, y_true[:, 0])
        # Decisions that are known to cost nothing need no estimate. NaN stays.
        free = rows < 0.5 * LOG_ZERO
        return poisson_cost(ops.where(free, 0.0, y_true[:, 1:]), ops.where(free, -1e4, rows))


def logistic_cost(costs: Tensor, logits: Tensor) -> Tensor:
    """Computes the cross-entropy between costs in [0, 1] and estimates, summed over decisions.

    `sum_k ln(1 + exp(u_k)) - c_k u_k`. Its expectation over costs is smallest at
    `sigmoid(u_k) = E[c_k]`, so estimates and decisions are consistent.

    Args:
        costs: `(..., D)` cost vectors `c`, in [0, 1].
        logits: `(..., D)`, the logits `u` of estimated costs.

    Returns:
        `(...,)`, float32 or wider; NaN for an example with a cost outside [0, 1].

    Example:

    >>> import numpy as np
    >>> loss = logistic_cost(np.array([[0.0, 1.0]]), np.array([[0.0, 2.0]]))
    >>> print(np.round(ops.convert_to_numpy(loss), 4))
    [0.8201]
    """
    costs, scores = same_shape("(..., D)", costs=costs, logits=logits)
    # A scale such as 1 / C.max() is rounded to float32, so the largest cost may exceed 1 a little.
    possible = ops.logical_and(costs >= 0.0, costs <= 1.0 + 1e-6)
    costs = ops.where(possible, costs, ops.cast(np.nan, costs.dtype))
    return ops.sum(ops.softplus(scores) - costs * scores, axis=-1)


@keras.saving.register_keras_serializable(package="csdl_keras")
class LogisticCostLoss(CostLoss):
    """Computes the cross-entropy between costs with an upper limit and their estimates.

    `logistic_cost`, averaged over the batch, for costs in [0, 1] after `cost_scale`, such as
    `1 / C.max()`. Larger costs raise in a matrix and yield NaN in vectors. The model's outputs `u`,
    of a `CostOutput`, are **logits** of estimated costs, see `models.cost_estimator`. If costs span
    orders of magnitude, `PoissonCostLoss`, with the same arguments, estimates small ones better.

    Example:

    >>> import numpy as np
    >>> loss = LogisticCostLoss(cost_matrix=[[0.0, 2.0], [1.0, 0.0]], cost_scale=0.5)
    >>> print(round(float(loss(np.array([0]), np.array([[0.0, 2.0]]))), 4))
    0.8201
    """

    prices_any_decision = True

    def scaled_rows(self, matrix: np.ndarray) -> np.ndarray:
        largest = matrix.max() * self.cost_scale
        if largest > 1 + 1e-6:
            raise ValueError(
                f"The largest cost is {largest:g} after `cost_scale`, above 1. "
                f"Pass cost_scale={1 / matrix.max():g}."
            )
        return super().scaled_rows(matrix)

    def cost_loss(self, costs: Tensor, estimates: Tensor) -> Tensor:
        return logistic_cost(costs, estimates)


@keras.saving.register_keras_serializable(package="csdl_keras")
def expected_cost(y_true: Tensor, expected_costs: Tensor) -> Tensor:
    """Returns the lowest expected cost, which is that of the argmin.

    `min_k r_k`, `(batch, ...)`. It trains nothing; compiled as a loss, it makes `evaluate` report
    the costs that the model expects, next to the true costs of its decisions by `AverageCost`.

    Args:
        y_true: ignored.
        expected_costs: `(batch, ..., D)` expected costs.

    Example:

    >>> print(ops.convert_to_numpy(expected_cost(None, np.array([[1.8, 0.8]]))))
    [0.8]
    """
    costs = tensor_or_array("expected_costs", expected_costs)
    examples_shape("expected_costs", costs)
    return ops.min(costs, axis=-1)


expected_cost.output_kind = "cost"  # `csdl_keras.output_kind` reads it.
