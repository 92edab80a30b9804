"""The loss of the MIN baseline: squared errors weighted by costs."""

from typing import Any

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.checks import check_choice
from csdl_keras._utils.tensors import first_minimum, same_shape
from csdl_keras._utils.types import ArrayLike, Tensor
from csdl_keras.costs.priors import class_shares
from csdl_keras.losses.base import CostLoss


def min_loss(costs: Tensor, outputs: Tensor, priors: ArrayLike | None = None) -> Tensor:
    """Computes the squared errors of each example's outputs, weighted by costs.

    `1/2 sum_i [(t_i - o_i) K_i]^2`, where `t` is 1 for the true class `y`, the cheapest one, and 0
    elsewhere. The weight of another class is its cost, `K_i = c_i`; that of the true class is the
    expected cost of mistaking it, `K_y = sum_{j != y} P(j) c_j / (1 - P(y))`.

    Args:
        costs: `(..., K)` cost vectors `c`; the first of several cheapest classes is the true one.
        outputs: `(..., K)` outputs `o`, one for each class, in [0, 1].
        priors: `(K,)` class frequencies in any unit, with shares `P`. Equal by default.

    Returns:
        `(...,)`, float32 or wider; NaN where a cost is infinite or NaN.

    Example:

    >>> import numpy as np
    >>> loss = min_loss(np.array([[0.0, 2.0, 4.0]]), np.array([[0.5, 0.5, 0.0]]))
    >>> print(keras.ops.convert_to_numpy(loss))  # (0.5 * 3)^2 / 2 + (0.5 * 2)^2 / 2
    [1.625]
    """
    costs, outputs = same_shape("(..., K)", costs=costs, outputs=outputs)
    costs, num_classes = ops.where(ops.isfinite(costs), costs, float("nan")), costs.shape[-1]
    priors = np.ones(num_classes) if priors is None else priors
    shares = class_shares("priors", priors, num_classes, positive=False)
    target = ops.one_hot(first_minimum(costs), num_classes, dtype=costs.dtype)
    others = ops.convert_to_tensor(shares, dtype=costs.dtype) * (1.0 - target)
    # The sum over the other classes is 1 - P(y), without the rounding of that difference.
    own = ops.sum(others * costs, axis=-1) / ops.sum(others, axis=-1)
    factor = ops.where(target > 0, own[..., None], costs)
    return 0.5 * ops.sum(ops.square((target - outputs) * factor), axis=-1)


@keras.saving.register_keras_serializable(package="csdl_keras")
class MINLoss(CostLoss):
    """Computes squared errors weighted by costs ("minimization of the misclassification costs").

    `1/2 sum_i [(t_i - o_i) K(y, i)]^2` averaged over the batch, see `min_loss`. Outputs are scores
    of classes in [0, 1], such as those of a softmax, and the decision is their **argmax**. Scale
    the largest cost to about 1, since the loss squares costs.

    Args:
        cost_matrix: as in `SOSRLoss`; the true class of a cost vector is its cheapest one.
        priors: `(K,)` class frequencies in any unit. Equal by default.
        output: `"probability"` (default) for scores in [0, 1], or `"logits"`.
        cost_scale, **kwargs: as in `SOSRLoss`, also `reduction`, `name`, `dtype`, `binary_costs`.

    References:
        - Kukar, Kononenko: Cost-sensitive learning with neural networks, ECAI 1998

    Example:

    >>> import numpy as np
    >>> loss = MINLoss(cost_matrix=[[0, 2, 4], [1, 0, 1], [1, 1, 0]])
    >>> print(float(loss(np.array([0]), np.array([[0.5, 0.5, 0.0]]))))
    1.625
    """

    output_kind = "probability"

    def __init__(
        self,
        cost_matrix: ArrayLike | None = None,
        priors: ArrayLike | None = None,
        cost_scale: float = 1.0,
        output: str = "probability",
        **kwargs: Any,
    ):
        check_choice("output", output, ("probability", "logits"))
        self.priors = None if priors is None else np.asarray(priors, "float64")
        super().__init__(cost_matrix, cost_scale, output, **kwargs)

    def scaled_rows(self, matrix: np.ndarray) -> np.ndarray:
        rows = super().scaled_rows(matrix)
        np.fill_diagonal(rows, -1.0)  # The class is then the cheapest even if other costs are 0.
        return rows

    def cost_loss(self, costs: Tensor, estimates: Tensor) -> Tensor:
        if self.output == "logits":
            estimates = ops.softmax(estimates)
        return min_loss(costs, estimates, self.priors)

    def get_config(self) -> dict[str, Any]:
        priors = None if self.priors is None else self.priors.tolist()
        return {**super().get_config(), "priors": priors}
