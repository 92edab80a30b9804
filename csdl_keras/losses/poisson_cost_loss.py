"""Poisson regression of costs, on a logarithmic scale."""

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.tensors import same_shape
from csdl_keras._utils.types import Tensor
from csdl_keras.losses.cost_loss import CostLoss

# The smallest number a logarithm is taken of: backends take smaller ones for 0.
_SMALLEST = float(np.finfo("float32").tiny)


def poisson_cost(costs: Tensor, log_estimates: Tensor) -> Tensor:
    """Computes half the Poisson deviance of each example, summed over decisions.

    `sum_k exp(u_k) - c_k u_k + c_k ln c_k - c_k`, which is never negative, and 0
    where every `exp(u_k) = c_k`. Its expectation over costs is smallest at
    `exp(u_k) = E[c_k]`, so estimates and decisions are consistent.

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
    # This does not depend on the estimates and makes the loss 0 at its minimum; c ln c is 0 at 0.
    own = costs * ops.log(ops.maximum(costs, _SMALLEST)) - costs
    return ops.sum(ops.exp(scores) - costs * scores + own, axis=-1)


@keras.saving.register_keras_serializable(package="csdl_keras")
class PoissonCostLoss(CostLoss):
    """Computes half the Poisson deviance of costs from their estimates.

    `sum_k exp(u_k) - c_k u_k` plus a term that depends on the costs alone, averaged
    over the batch; see `poisson_cost`. The model's outputs `u`, of a `CostOutput`,
    are **logarithms** of estimated costs. Their argmin is the decision as well;
    `models.cost_estimator` turns them into costs.

    With enough data the estimates approach the expected costs `E[c_k|x]`, and
    the argmin the Bayes decision, also where costs differ from example to
    example, and for decisions that are not classes, such as to abstain.

    Where a few examples are far more costly than the rest, clip gradients, as in
    `keras.optimizers.Adam(global_clipnorm=1.0)`, so that those few do not undo
    what was learnt from the others.

    Args:
        cost_matrix: `None` (default) for cost vectors, `(K, D)` for integer labels,
            as in `SOSRLoss`.
        cost_scale: as in `SOSRLoss`. Defaults to 1.
        reduction: as in `keras.losses.Loss`. Defaults to the mean over the batch.
        name: name of the loss.
        dtype: dtype of the computation; `None` (default) is at least float32.

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

    def cost_loss(self, costs: Tensor, estimates: Tensor) -> Tensor:
        return poisson_cost(costs, estimates)
