"""Poisson regression of costs, on a logarithmic scale."""

from typing import Any

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.tensors import same_shape
from csdl_keras.losses.base import CostLoss

#: A logarithm is taken of no less; zeros of subnormal numbers would be infinite.
_SMALLEST = float(np.finfo("float32").tiny)


def poisson_cost(costs: Any, log_estimates: Any) -> Any:
    """Half the Poisson deviance of each example, summed over decisions.

    `sum_k exp(u_k) - c_k u_k + c_k ln c_k - c_k`, at least 0, and 0 where every
    `exp(u_k) = c_k`. Its expectation over costs is smallest at
    `exp(u_k) = E[c_k]`: the estimates are consistent, and so are decisions.

    Args:
        costs: `(batch, D)` cost vectors `c`, not negative.
        log_estimates: `(batch, D)`, the logarithms `u` of estimated costs.

    Returns:
        `(batch,)`, float32 or wider; NaN for an example with a cost that is
        negative, infinite or NaN.

    Raises:
        ValueError: if the shapes differ or an array holds no numbers.

    References:
        - McCullagh, Nelder: Generalized linear models, chapter 6 (1989)

    Example:

    >>> import numpy as np
    >>> loss = poisson_cost(np.array([[0.0, 2.0]]), np.log([[0.5, 2.0]]))
    >>> print(np.round(ops.convert_to_numpy(loss), 4))
    [0.5]
    """
    hint = "There is one estimate for each decision."
    costs, scores = same_shape("(batch, D)", hint, most=2, costs=costs, log_estimates=log_estimates)
    costs = ops.where(costs >= 0.0, costs, ops.cast(np.nan, costs.dtype))
    # c ln c is 0 at c = 0; a constant of the data, it changes no gradient.
    own = costs * ops.log(ops.maximum(costs, _SMALLEST)) - costs
    return ops.sum(ops.exp(scores) - costs * scores + own, axis=-1)


@keras.saving.register_keras_serializable(package="csdl_keras")
class PoissonCostLoss(CostLoss):
    """Poisson regression of costs: consistent cost estimates, labels or not.

    `sum_k exp(u_k) - c_k u_k` plus a constant of the data, averaged over the
    batch; see `poisson_cost`. The outputs `u` of the model, of a `CostOutput`,
    are **logarithms** of estimated costs, whose argmin is the decision as well;
    `models.cost_estimator` turns them into costs.

    Where few examples are far dearer than the rest, clip gradients, as in
    `keras.optimizers.Adam(global_clipnorm=1.0)`, or those few undo what the
    others taught.

    With enough data the estimates approach the expected costs `E[c_k|x]`, and
    the argmin the Bayes decision, also where costs differ from example to
    example, and for decisions that are no class, such as to abstain.

    Args:
        cost_matrix: `None` (default) if `y_true` holds cost vectors
            `(batch, D)`; `(K, D)`, `C[true, decision]`, if it holds integer
            labels, `(batch,)` or `(batch, 1)`.
        cost_scale: factor above 0 by which costs are multiplied before they are
            compared with estimates, such as `1 / C.max()` where `y_true` is in
            money. Defaults to 1.
        reduction: as in `keras.losses.Loss`. Defaults to the mean over the batch.
        name: name of the loss.
        dtype: dtype of the computation, by default at least float32.

    Raises:
        ValueError: if the matrix fails its check or the shapes of `y_true` and
            `y_pred` do not match.

    Example:

    >>> import numpy as np
    >>> loss = PoissonCostLoss(cost_matrix=[[0.0, 2.0], [1.0, 0.0]])
    >>> print(round(float(loss(np.array([0]), np.log([[0.5, 2.0]]))), 4))
    0.5
    """

    prices_any_decision = True

    def __init__(
        self,
        cost_matrix: Any = None,
        cost_scale: float = 1.0,
        reduction: str | None = "sum_over_batch_size",
        name: str | None = "poisson_cost_loss",
        dtype: Any = None,
    ):
        super().__init__(cost_matrix, cost_scale, reduction=reduction, name=name, dtype=dtype)

    def cost_loss(self, costs: Any, estimates: Any) -> Any:
        return poisson_cost(costs, estimates)
