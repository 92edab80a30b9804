"""The loss of the MIN baseline: squared errors weighted by costs."""

from typing import Any

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.arrays import check_rows, number_array
from csdl_keras._utils.checks import check_choice
from csdl_keras._utils.tensors import (
    finite,
    first_minimum,
    probability_rows,
    same_shape,
    tensor_or_array,
)
from csdl_keras._utils.types import ArrayLike, DTypeLike, Tensor
from csdl_keras.losses.base import CostLoss


def min_loss(
    costs: Tensor, outputs: Tensor, priors: ArrayLike | None = None, targets: Tensor | None = None
) -> Tensor:
    """Computes the squared errors of each example's outputs, weighted by costs.

    `1/2 sum_i [(t_i - o_i) K_i]^2`, where `t` is 1 for the true class `y` and 0 elsewhere. The
    weight of another class is its cost, `K_i = c_i`; that of the true class is the expected cost of
    mistaking it, `K_y = sum_{j != y} P(j) c_j / (1 - P(y))`.

    Args:
        costs: `(..., K)` cost vectors `c`, of at least 2 classes.
        outputs: `(..., K)` outputs `o`, one for each class, in [0, 1].
        priors: `(K,)` class probabilities `P`, each below 1, summing to 1;
            `None` (default) takes `1/K` for each.
        targets: `(..., K)`, 1 for the true class and 0 elsewhere; `None` (default) takes the
            cheapest class, the first among equals.

    Returns:
        `(...,)`, float32 or wider; NaN where a cost is infinite or NaN.

    References:
        - Kukar, Kononenko: Cost-sensitive learning with neural networks,
          ECAI 1998, "minimization of the misclassification costs"

    Example:

    >>> import numpy as np
    >>> loss = min_loss(np.array([[0.0, 2.0, 4.0]]), np.array([[0.5, 0.5, 0.0]]))
    >>> print(keras.ops.convert_to_numpy(loss))  # (0.5 * 3)^2 / 2 + (0.5 * 2)^2 / 2
    [1.625]
    """
    values = {"costs": costs, "outputs": outputs}
    if targets is not None:
        values["targets"] = check_targets(targets)
    hint = "There is one output for each of at least 2 classes."
    costs, outputs, *given = same_shape("(..., K)", hint, **values)
    num_classes = costs.shape[-1]
    if num_classes < 2:
        raise ValueError(f"Expected costs of at least 2 classes; received {tuple(costs.shape)}.")
    costs = finite(costs)
    if priors is None:
        priors = np.full(num_classes, 1 / num_classes)
    elif len(priors := check_priors(priors)) != num_classes:
        raise ValueError(f"Expected {num_classes} `priors`; received {len(priors)}.")
    if not given:
        given = [ops.one_hot(first_minimum(costs), num_classes, dtype=costs.dtype)]
    target = given[0]
    weight = ops.convert_to_tensor(priors, dtype=costs.dtype)
    others = weight * (1.0 - target)
    # The sum over the other classes is 1 - P(y), without the rounding of that difference.
    own = ops.sum(others * costs, axis=-1) / ops.sum(others, axis=-1)
    factor = ops.where(target > 0, own[..., None], costs)
    return 0.5 * ops.sum(ops.square((target - outputs) * factor), axis=-1)


def check_priors(priors: ArrayLike) -> np.ndarray:
    """Returns `priors` as float64 `(K,)` if they are probabilities below 1 that sum to 1."""
    array = number_array("priors", priors, "(K,)").astype("float64")
    if array.ndim != 1 or len(array) < 2:
        raise ValueError(f"Expected `priors` to be K >= 2 numbers; received {priors!r}.")
    if not (probability_rows(array[None], tolerance=1e-5).all() and array.max() < 1):
        raise ValueError(
            "Expected `priors` in [0, 1) that sum to 1, the share of each class; received "
            f"{array.tolist()}."
        )
    return array


def check_targets(targets: Tensor) -> Tensor:
    """Returns `targets`; raises on an array whose rows do not each mark one class."""
    targets = tensor_or_array("targets", targets)
    if isinstance(targets, np.ndarray) and targets.ndim >= 2:
        marked = np.isin(targets, (0, 1)).all(axis=-1) & (targets.sum(axis=-1) == 1)
        if not marked.all():
            raise ValueError(
                "Expected rows of `targets` that are 1 for one class and 0 for the others; "
                f"received {targets[~marked][0].tolist()}."
            )
    return targets


@keras.saving.register_keras_serializable(package="csdl_keras")
class MINLoss(CostLoss):
    """Computes squared errors weighted by costs ("minimization of the misclassification costs").

    `1/2 sum_i [(t_i - o_i) K(y, i)]^2` averaged over the batch, see `min_loss`. Outputs are scores
    of classes in [0, 1], such as those of a softmax, and the decision is their **argmax**. Scale
    the largest cost to about 1, since the loss squares costs: training diverges with much larger
    ones, and stops with much smaller ones.

    Args:
        cost_matrix: as in `SOSRLoss`; the true class of a cost vector is its cheapest one.
        priors: `(K,)` shares `P` of the classes, each below 1, summing to 1;
            `None` (default) takes them as equal.
        output: `"probability"` (default) for scores in [0, 1], `"logits"` for scores that the
            loss puts through a softmax.
        cost_scale, reduction, name, dtype, binary_costs: as in `SOSRLoss`.

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
        reduction: str | None = "sum_over_batch_size",
        name: str | None = "min_loss",
        dtype: DTypeLike | None = None,
        binary_costs: bool = False,
    ):
        self.priors = None if priors is None else check_priors(priors)
        super().__init__(cost_matrix, cost_scale, output, reduction, name, dtype, binary_costs)

    def checked_output(self, output: str) -> str:
        return check_choice("output", output, ("probability", "logits"))

    def scaled_rows(self, matrix: np.ndarray) -> np.ndarray:
        if self.priors is not None:
            check_rows("priors", self.priors, len(matrix), "classes of `cost_matrix`")
        rows = super().scaled_rows(matrix)
        np.fill_diagonal(rows, -1.0)  # This marks the class, as others may cost nothing too.
        return rows

    def cost_loss(self, costs: Tensor, estimates: Tensor) -> Tensor:
        if self.output == "logits":
            estimates = ops.softmax(estimates)
        if self.cost_matrix is None:
            return min_loss(costs, estimates, self.priors)
        own = costs < 0.0
        targets = ops.cast(own, costs.dtype)
        return min_loss(ops.where(own, 0.0, costs), estimates, self.priors, targets)

    def get_config(self) -> dict[str, Any]:
        priors = None if self.priors is None else self.priors.tolist()
        return {**super().get_config(), "priors": priors}
