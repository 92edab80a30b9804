"""The smooth one-sided regression (SOSR) loss, an upper bound of the one-sided loss."""

from typing import Any

import keras
from keras import ops

from csdl_keras._utils.checks import check_number
from csdl_keras._utils.tensors import same_shape
from csdl_keras._utils.types import ArrayLike, Tensor
from csdl_keras.losses.base import CostLoss


def _gap(costs: Tensor, estimates: Tensor) -> Tensor:
    """Returns `z * (r - c)`, with `z` as in `one_sided`."""
    costs, estimates = same_shape("(..., D)", costs=costs, estimates=estimates)
    costs = ops.where(ops.isfinite(costs), costs, float("nan"))
    cheapest = costs <= ops.min(costs, axis=-1, keepdims=True)
    gap = estimates - costs
    return ops.where(cheapest, gap, -gap)


def one_sided(costs: Tensor, estimates: Tensor) -> Tensor:
    """Computes the one-sided loss of each example, `sum_k max(z_k (r_k - c_k), 0)`.

    `z_k` is +1 where `c_k` is the example's smallest cost (ties included) and -1 elsewhere.
    Estimating the smallest cost too low, or another one too high, adds nothing to the loss.

    Args:
        costs: `(..., D)` cost vectors `c`.
        estimates: `(..., D)` estimated costs `r`.

    Returns:
        `(...,)`, float32 or wider; NaN where a cost is infinite or NaN.

    Example:

    >>> import numpy as np
    >>> loss = one_sided(np.array([[0.0, 2.0]]), np.array([[0.5, 2.5]]))
    >>> print(keras.ops.convert_to_numpy(loss))
    [0.5]
    """
    gap = _gap(costs, estimates)
    # JAX may compile `relu` so that NaN becomes 0.
    return ops.sum(ops.where(gap < 0.0, 0.0, gap), axis=-1)


@keras.saving.register_keras_serializable(package="csdl_keras")
class OneSidedLoss(CostLoss):
    """Computes the one-sided regression loss, which `SOSRLoss` smooths.

    The mean of `one_sided` over the batch. Arguments and errors are those of `SOSRLoss`, without
    `alpha`.

    References:
        - [Tu, Lin: One-sided support vector regression for multiclass
          cost-sensitive classification, ICML 2010](https://icml.cc/Conferences/2010/papers/345.pdf)

    Example:

    >>> import numpy as np
    >>> loss = OneSidedLoss()
    >>> print(float(loss(np.array([[0.0, 2.0]]), np.array([[0.5, 2.5]]))))
    0.5
    """

    def cost_loss(self, costs: Tensor, estimates: Tensor) -> Tensor:
        return one_sided(costs, estimates)


def sosr(costs: Tensor, estimates: Tensor, alpha: float = 1.0) -> Tensor:
    """Computes the SOSR loss of each example, summed over decisions.

    `sum_k 1/alpha * ln(1 + exp(alpha * z_k * (r_k - c_k)))` with `z_k` as in `one_sided`. It bounds
    the one-sided loss, and so the excess cost of the decision, from above:
    `c[argmin r] - min c <= sum_k max(z_k (r_k - c_k), 0) <= sosr`.

    Args:
        costs: `(..., D)` cost vectors `c`.
        estimates: `(..., D)` estimated costs `r`.
        alpha: sharpness, above 0 and at most 1e6; with larger values the loss is
            closer to the one-sided loss. Defaults to 1, as in the paper.

    Returns:
        `(...,)`, as `one_sided`.

    Example:

    >>> import numpy as np
    >>> loss = sosr(np.array([[0.0, 2.0]]), np.array([[0.5, 1.5]]))
    >>> print(np.round(keras.ops.convert_to_numpy(loss), 4))
    [1.9482]
    """
    alpha = check_number("alpha", alpha, 0, 1e6, exclude_low=True)  # Larger terms overflow.
    gap = _gap(costs, estimates)
    terms = ops.softplus(gap) if alpha == 1 else ops.softplus(alpha * gap) / alpha
    return ops.sum(terms, axis=-1)


@keras.saving.register_keras_serializable(package="csdl_keras")
class SOSRLoss(CostLoss):
    """Computes the smooth one-sided regression loss, the training loss of the paper.

    `1/alpha * ln(1 + exp(alpha * z_k * (r_k - c_k)))`, summed over decisions `k` and averaged over
    the batch; see `sosr`. The outputs `r` estimate costs, and the model decides by argmin. It
    trains well on costs of about 1, as after `cost_scale=1 / C.max()`. Decisions that are the
    cheapest for no example (abstaining) cannot be trained: their estimates grow without bound.

    Args:
        cost_matrix: `None` (default) if `y_true` is cost vectors `(batch, K)`; `(K, K)`,
            `C[true, decision]`, if it is integer labels, `(batch,)` or `(batch, 1)`. Outputs
            `(batch, ..., K)`, such as those of pixels, have targets of their shape. A label
            outside `[0, K)` raises in an array, and yields NaN in a compiled step. Saved models
            contain matrices up to 128 x 128; with a larger one, compile the loaded model again.
        alpha: sharpness, above 0 and at most 1e6. Defaults to 1.
        cost_scale: factor above 0 by which costs are multiplied. Defaults to 1.
        output: kind of `y_pred`, only `"cost"` (default). Rows that all sum to 1, as those of a
            softmax, raise, or yield NaN in a compiled step.
        reduction, name: as in `keras.losses.Loss`; by default, the loss is the mean over the batch.
        dtype: dtype of the computation; `None` (default) is at least float32.
        binary_costs: whether all cost vectors may be one-hot, if only one decision costs 1. By
            default arrays of such rows raise, since they are probably labels; in `fit`,
            `AverageCost` raises at the end of the epoch.

    References:
        - Chung, Lin, Yang: Cost-aware Pre-training for Multiclass
          Cost-sensitive Deep Learning, IJCAI 2016, equations (7) and (8)

    Example:

    >>> import numpy as np
    >>> loss = SOSRLoss(cost_matrix=[[0.0, 2.0], [1.0, 0.0]])
    >>> print(round(float(loss(np.array([0]), np.array([[0.5, 1.5]]))), 4))
    1.9482
    """

    def __init__(
        self,
        cost_matrix: ArrayLike | None = None,
        alpha: float = 1.0,
        cost_scale: float = 1.0,
        output: str = "cost",
        **kwargs: Any,
    ):
        super().__init__(cost_matrix, cost_scale, output, **kwargs)
        self.alpha = check_number("alpha", alpha, 0, 1e6, exclude_low=True)

    def cost_loss(self, costs: Tensor, estimates: Tensor) -> Tensor:
        return sosr(costs, estimates, self.alpha)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "alpha": self.alpha}
