"""Expected costs where costs, too, are estimated from the example."""

from typing import Any

import keras
from keras import ops

from csdl_keras._bounded_exponential import bounded_exponential
from csdl_keras._fit_outputs import check_cost_layer
from csdl_keras._ops import LOG_ZERO, at_least_float32, head_dtype


@keras.saving.register_keras_serializable(package="csdl_keras")
class ExpectedCost(keras.layers.Layer):
    """The expected cost of each decision, from class probabilities and costs by class.

    `r_k(x) = sum_y P(y|x) exp(U(x))[y, k]`: the Bayes decision, whose cost matrix
    is estimated for each example. The argmin of its output is the decision.

    It takes the logarithms `U` of costs, by name, so that costs are not taken for
    them. It adds in logarithms, and what comes out is finite for all finite inputs:
    above 8e36 (8,000 for float16) expected costs grow ever more slowly, and keep
    their order.

    Args:
        dtype: dtype policy of the layer; `None` (default) is the global one, or
            float32 where that computes in 16 bits.
        **kwargs: arguments of `keras.layers.Layer`, such as `name`.

    Call arguments:
        probabilities: `(batch, K)`, each row summing to 1.
        log_costs: `(batch, K, D)`, natural logarithms `U` of costs by class, `-inf`
            for 0; to be passed by name.

    Returns:
        `(batch, D)` expected costs.

    Raises:
        ValueError: if the shapes do not match or `log_costs` is missing.

    Example:

    >>> import numpy as np
    >>> p, costs = np.array([[0.8, 0.2]]), np.array([[[0.5, 1.0], [9.0, 0.5]]])
    >>> print(ops.convert_to_numpy(ExpectedCost()(p, log_costs=np.log(costs))).round(3))
    [[2.2 0.9]]
    """

    output_kind = "cost"

    def __init__(self, dtype: Any = None, **kwargs: Any):
        super().__init__(dtype=head_dtype(dtype), **kwargs)

    def build(self, probabilities_shape: Any, log_costs_shape: Any = None) -> None:
        if log_costs_shape is None:
            raise ValueError(
                "Expected class probabilities, and the logarithms of costs as `log_costs=`: "
                "ExpectedCost()(probabilities, log_costs=numpy.log(costs)); received "
                f"{probabilities_shape} alone."
            )
        probabilities, log_costs = tuple(probabilities_shape), tuple(log_costs_shape)
        if (len(probabilities), len(log_costs)) != (2, 3) or probabilities[1] != log_costs[1]:
            raise ValueError(
                "Expected `probabilities` and `log_costs` of the shapes (batch, K) and "
                f"(batch, K, D); received {probabilities} and {log_costs}."
            )
        self.built = True

    def call(self, probabilities: Any, *, log_costs: Any = None) -> Any:
        check_cost_layer(self)
        p, u = at_least_float32(probabilities, log_costs)
        p, impossible = p[:, :, None], p[:, :, None] == 0.0
        # No infinities, whose differences are NaN.
        u = ops.clip(u, LOG_ZERO, 1e35)
        parts = ops.where(impossible, LOG_ZERO, ops.log(ops.where(impossible, 1.0, p)) + u)
        largest = ops.max(parts, axis=1, keepdims=True)
        total = ops.log(ops.sum(ops.exp(parts - largest), axis=1)) + largest[:, 0]
        costs = bounded_exponential(total, self.compute_dtype)
        return ops.cast(ops.where(total < 0.5 * LOG_ZERO, 0.0, costs), self.compute_dtype)

    def compute_output_shape(self, probabilities_shape: Any, log_costs_shape: Any) -> tuple:
        return (probabilities_shape[0], log_costs_shape[2])
