"""The one-sided regression loss, the hinge that SOSR bounds."""

from typing import Any

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.tensors import finite, same_shape
from csdl_keras.losses.base import CostLoss


def one_sided_gap(costs: Any, estimates: Any) -> Any:
    """`z * (r - c)`, `z = +1` where a cost is the example's smallest (ties too), else -1."""
    costs, estimates = same_shape("(..., D)", least=1, costs=costs, estimates=estimates)
    return gap_of_finite(finite(costs), estimates)


def gap_of_finite(costs: Any, estimates: Any) -> Any:
    """The same, of finite or NaN floats of one type and shape."""
    cheapest = costs <= ops.min(costs, axis=-1, keepdims=True)
    gap = estimates - costs
    return ops.where(cheapest, gap, -gap)


def signed(costs: np.ndarray) -> np.ndarray:
    """`z * c`, of `(K, D)` costs that are at least 0: no less than 0 where `z = +1` alone."""
    return np.where(costs <= costs.min(axis=-1, keepdims=True), costs, -costs)


def gap_of_signed(signed_costs: Any, estimates: Any) -> Any:
    """`z * (r - c)`, `(batch, D)`, of `z * c` from `signed` and estimates `r` of that shape."""
    sign = 2.0 * ops.cast(signed_costs >= 0.0, estimates.dtype) - 1.0
    return estimates * sign - signed_costs


def one_sided(costs: Any, estimates: Any) -> Any:
    """The one-sided loss of each example: `sum_k max(z_k (r_k - c_k), 0)`.

    An estimate of the smallest cost may be too low and any other too high at no
    loss, since neither changes the argmin for the worse.

    Args:
        costs: `(..., D)` cost vectors `c`.
        estimates: `(..., D)` estimated costs `r`.

    Returns:
        `(...,)`, float32 or wider; NaN where a cost is infinite or NaN.

    Raises:
        ValueError: if the shapes differ or an array holds no numbers.

    References:
        - [Tu, Lin: One-sided support vector regression for multiclass
          cost-sensitive classification, ICML 2010](https://icml.cc/Conferences/2010/papers/345.pdf)

    Example:

    >>> import numpy as np
    >>> loss = one_sided(np.array([[0.0, 2.0]]), np.array([[0.5, 2.5]]))
    >>> print(keras.ops.convert_to_numpy(loss))
    [0.5]
    """
    gap = one_sided_gap(costs, estimates)
    return ops.sum(ops.relu(gap), axis=-1)


@keras.saving.register_keras_serializable(package="csdl_keras")
class OneSidedLoss(CostLoss):
    """One-sided regression loss: `max(z_k (r_k - c_k), 0)` summed over decisions.

    The hinge under `SOSRLoss`, averaged over the batch; see `one_sided`.

    Args:
        cost_matrix: `None` (default) if `y_true` holds cost vectors
            `(batch, K)`; `(K, K)`, `C[true, decision]`, if it holds integer
            labels, `(batch,)` or `(batch, 1)`.
        cost_scale: factor above 0 by which costs are multiplied before they are
            compared with estimates, such as `1 / C.max()` where `y_true` is in
            money. Defaults to 1.
        reduction: as in `keras.losses.Loss`. Defaults to the mean over the batch.
        name: name of the loss.
        dtype: dtype of the computation, by default at least float32.

    Raises:
        ValueError: if the matrix fails its check, or the shapes of `y_true` and
            `y_pred` do not match.

    References:
        - Chung, Lin, Yang, IJCAI 2016, the loss above equation (6)

    Example:

    >>> import numpy as np
    >>> loss = OneSidedLoss()
    >>> print(float(loss(np.array([[0.0, 2.0]]), np.array([[0.5, 2.5]]))))
    0.5
    """

    def __init__(
        self,
        cost_matrix: Any = None,
        cost_scale: float = 1.0,
        reduction: str | None = "sum_over_batch_size",
        name: str | None = "one_sided_loss",
        dtype: Any = None,
    ):
        super().__init__(cost_matrix, cost_scale, reduction=reduction, name=name, dtype=dtype)

    def cost_loss(self, costs: Any, estimates: Any) -> Any:
        return ops.sum(ops.relu(gap_of_finite(costs, estimates)), axis=-1)

    def class_rows(self, costs: np.ndarray) -> np.ndarray:
        return signed(costs)

    def row_loss(self, rows: Any, estimates: Any) -> Any:
        return ops.sum(ops.relu(gap_of_signed(rows, estimates)), axis=-1)
