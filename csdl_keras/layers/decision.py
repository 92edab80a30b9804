"""Layers that compute expected costs from class probabilities, and decisions."""

from typing import Any

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.checks import OUTPUTS, check_bool, check_choice, check_integer
from csdl_keras._utils.tensors import first_minimum
from csdl_keras._utils.types import ArrayLike, Shape, Tensor
from csdl_keras.costs._tensors import two_columns
from csdl_keras.costs.checks import check_cost_matrix, check_mean_costs
from csdl_keras.layers.base import WideLayer


@keras.saving.register_keras_serializable(package="csdl_keras")
class BayesDecision(WideLayer):
    """Turns class probabilities into the expected cost of each decision.

    `r_k(x) = sum_y P(y|x) C[y, k]`; the argmin of its output is the Bayes optimal decision. The
    cost matrix is a non-trainable weight, which `layer.set_cost_matrix(...)` replaces. The config
    contains only its shape: a layer made from it outputs NaN until its weights are loaded.

    Args:
        cost_matrix: array-like `(K, D)`, `C[true, decision]`, `D >= K`; `None` (default) if the
            matrix is set later, or the layer is called with costs.
        num_classes, num_decisions: `K` and `D`, required without a matrix.
        mean_costs: whether the matrix contains mean costs by class, `csdl_keras.costs.class_means`.
            Defaults to False.

    Call arguments:
        probabilities: `(batch, ..., K)`, each row summing to 1.
        costs: a cost matrix for each example, `(batch, K, D)`, `C[n, true, decision]`, or one
            for all, `(K, D)` or `(1, K, D)`; `None` (default) for the layer's own.

    Returns:
        Expected costs `(batch, ..., D)`; NaN for an example with invalid `costs`.

    References:
        - Chung, Lin, Yang, IJCAI 2016, equation (4)

    Example:

    >>> layer = BayesDecision([[0.0, 1.0], [9.0, 0.0]])
    >>> costs = layer(ops.array([[0.8, 0.2]]))
    >>> print(ops.convert_to_numpy(costs).round(3))
    [[1.8 0.8]]
    """

    output_kind = "cost"

    def __init__(
        self,
        cost_matrix: ArrayLike | None = None,
        num_classes: int | None = None,
        num_decisions: int | None = None,
        mean_costs: bool = False,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.mean_costs = check_bool("mean_costs", mean_costs)
        self._initial = None if cost_matrix is None else self._checked(cost_matrix, num_classes)
        shape = (num_classes, num_decisions) if self._initial is None else self._initial.shape
        self.num_classes = check_integer("num_classes", shape[0], 2)
        self.num_decisions = check_integer("num_decisions", shape[1])
        self.input_spec = keras.layers.InputSpec(min_ndim=2, axes={-1: self.num_classes})

    def build(self, probabilities_shape: Shape, costs_shape: Shape | None = None) -> None:
        if costs_shape is None:
            initial = keras.initializers.Constant(
                np.nan if self._initial is None else self._initial
            )
            shape = (self.num_classes, self.num_decisions)
            self.cost_matrix = self.add_weight(shape, initial, trainable=False, name="cost_matrix")
            self._initial = None  # The array uses as much memory as the weight.
        elif self._initial is not None or len(probabilities_shape) != 2:
            raise ValueError(
                "`costs` need a layer without a matrix and probabilities of shape (batch, K); "
                f"received probabilities of shape {probabilities_shape}."
            )

    def set_cost_matrix(self, cost_matrix: ArrayLike) -> None:
        """Replaces the cost matrix by another array-like `(K, D)` of the same shape."""
        matrix = self._checked(cost_matrix, self.num_classes)
        if self.built:
            self.cost_matrix.assign(matrix)
        else:
            self._initial = matrix

    def _checked(self, cost_matrix: ArrayLike, num_classes: int | None) -> np.ndarray:
        if self.mean_costs:
            return check_mean_costs(cost_matrix, num_classes)
        return check_cost_matrix(cost_matrix, num_classes, square=False)

    def call(self, probabilities: Tensor, costs: Tensor | None = None) -> Tensor:
        if costs is None:
            return ops.matmul(probabilities, self.cost_matrix)
        costs = costs if len(costs.shape) == 3 else costs[None]
        right = ops.logical_and(costs >= 0.0, costs < float("inf"))  # NaN fails both.
        expected = ops.matmul(probabilities[:, None], costs)[:, 0]
        return ops.where(ops.all(right, axis=(1, 2))[:, None], expected, float("nan"))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "cost_matrix": None}


@keras.saving.register_keras_serializable(package="csdl_keras")
class Decision(WideLayer):
    """Decides by the argmin of costs or the argmax of probabilities, the lowest index in a tie.

    Args:
        output: kind of the inputs: `"cost"` (default), or `"probability"`, where a single
            column is P(y=1) of a binary classifier.

    Call arguments:
        inputs: `(batch, ..., D)`.

    Returns:
        int32 tensor `(batch, ...)`; -1 for a row that contains NaN.

    Example:

    >>> decided = Decision("cost")(ops.array([[2.0, 1.0, 1.0]]))
    >>> ops.convert_to_numpy(decided).tolist()
    [1]
    """

    def __init__(self, output: str = "cost", **kwargs: Any):
        super().__init__(**kwargs)
        self.input_kind = check_choice("output", output, OUTPUTS)

    def call(self, inputs: Tensor) -> Tensor:
        if self.input_kind == "cost":
            return first_minimum(inputs)
        return first_minimum(-two_columns(inputs))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "output": self.input_kind}
