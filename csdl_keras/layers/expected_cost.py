"""Expected costs where costs, too, are estimated from the example."""

from typing import Any

import keras
from keras import ops

from csdl_keras._fit_outputs import check_cost_layer
from csdl_keras._ops import head_dtype


@keras.saving.register_keras_serializable(package="csdl_keras")
class ExpectedCost(keras.layers.Layer):
    """The expected cost of each decision, from class probabilities and costs by class.

    `r_k(x) = sum_y P(y|x) exp(U(x))[y, k]`: the Bayes decision, whose cost matrix
    is estimated for each example. The argmin of its output is the decision.

    Args:
        dtype: dtype policy of the layer; `None` (default) is the global one, or
            float32 where that computes in 16 bits.
        **kwargs: arguments of `keras.layers.Layer`, such as `name`.

    Call arguments:
        inputs: a list of `(batch, K)` probabilities and `(batch, K, D)`
            logarithms `U` of costs.

    Returns:
        `(batch, D)` expected costs.

    Raises:
        ValueError: if the shapes do not match.

    Example:

    >>> import numpy as np
    >>> p, costs = np.array([[0.8, 0.2]]), np.array([[[0.5, 1.0], [9.0, 0.5]]])
    >>> print(ops.convert_to_numpy(ExpectedCost()([p, np.log(costs)])).round(3))
    [[2.2 0.9]]
    """

    output_kind = "cost"

    def __init__(self, dtype: Any = None, **kwargs: Any):
        super().__init__(dtype=head_dtype(dtype), **kwargs)

    def build(self, input_shape: Any) -> None:
        probabilities, log_costs = (tuple(shape) for shape in input_shape)
        if (len(probabilities), len(log_costs)) != (2, 3) or probabilities[1] != log_costs[1]:
            raise ValueError(
                "Expected inputs of the shapes (batch, K) and (batch, K, D); received "
                f"{probabilities} and {log_costs}."
            )
        self.built = True

    def call(self, inputs: Any) -> Any:
        check_cost_layer(self)
        probabilities, log_costs = inputs
        return ops.sum(probabilities[:, :, None] * ops.exp(log_costs), axis=1)

    def compute_output_shape(self, input_shape: Any) -> tuple:
        return (input_shape[1][0], input_shape[1][2])
