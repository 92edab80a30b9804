"""The one-sided regression loss, of which SOSR is a smooth upper bound."""

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.tensors import finite, same_shape
from csdl_keras._utils.types import Tensor
from csdl_keras.losses.cost_loss import CostLoss


def one_sided_gap(costs: Tensor, estimates: Tensor) -> Tensor:
    """Returns `z * (r - c)`; `z` is +1 where a cost is the example's smallest, otherwise -1."""
    costs, estimates = same_shape("(..., D)", least=1, costs=costs, estimates=estimates)
    return gap_of_finite(finite(costs), estimates)


def gap_of_finite(costs: Tensor, estimates: Tensor) -> Tensor:
    """Computes `one_sided_gap` of floats of one type and shape that are finite or NaN."""
    cheapest = costs <= ops.min(costs, axis=-1, keepdims=True)
    gap = estimates - costs
    return ops.where(cheapest, gap, -gap)


def signed(costs: np.ndarray) -> np.ndarray:
    """Returns `z * c` of `(K, D)` costs; as these are not negative, its sign tells `z`."""
    return np.where(costs <= costs.min(axis=-1, keepdims=True), costs, -costs)


def gap_of_signed(signed_costs: Tensor, estimates: Tensor) -> Tensor:
    """Computes `one_sided_gap` of rows `z * c` from `signed` and estimates `r`, `(batch, D)`."""
    sign = 2.0 * ops.cast(signed_costs >= 0.0, estimates.dtype) - 1.0
    return estimates * sign - signed_costs


def one_sided(costs: Tensor, estimates: Tensor) -> Tensor:
    """Computes the one-sided loss of each example, `sum_k max(z_k (r_k - c_k), 0)`.

    `z_k` is +1 where `c_k` is the example's smallest cost (every one of them, when
    tied) and -1 elsewhere. Too low an estimate of the smallest cost, or too high
    an estimate of another, is no loss, since neither makes the argmin worse.

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
    """Computes the one-sided regression loss, which `SOSRLoss` smooths.

    `sum_k max(z_k (r_k - c_k), 0)`, averaged over the batch; see `one_sided`.

    Args:
        cost_matrix: `None` (default) for cost vectors, `(K, K)` for integer labels,
            as in `SOSRLoss`.
        cost_scale: as in `SOSRLoss`. Defaults to 1.
        reduction: as in `keras.losses.Loss`. Defaults to the mean over the batch.
        name: name of the loss.
        dtype: dtype of the computation; `None` (default) is at least float32.

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

    def cost_loss(self, costs: Tensor, estimates: Tensor) -> Tensor:
        return ops.sum(ops.relu(gap_of_finite(costs, estimates)), axis=-1)

    def class_rows(self, costs: np.ndarray) -> np.ndarray:
        return signed(costs)

    def row_loss(self, rows: Tensor, estimates: Tensor) -> Tensor:
        return ops.sum(ops.relu(gap_of_signed(rows, estimates)), axis=-1)
