"""Layers whose outputs are estimated costs."""

import math
from typing import Any

import keras
from keras import ops

from csdl_keras._utils.arrays import LARGEST_NUMBER
from csdl_keras._utils.checks import check_choice, check_number
from csdl_keras._utils.tensors import at_least_float32, bounded_exponential, head_dtype
from csdl_keras._utils.types import DTypeLike, Shape, Tensor


@keras.saving.register_keras_serializable(package="csdl_keras")
class CostOutput(keras.layers.Dense):
    """Linear `Dense` layer that estimates the cost of each decision.

    `r_k(x) = w_k . phi(x) + b_k`. It computes the same as `keras.layers.Dense(units)`; its type
    marks the outputs as costs, so that `csdl_keras.decide` takes their argmin.

    Args:
        units: number of decisions.
        dtype: dtype policy; `None` (default) is the global one, or float32 where that has 16 bits.
        **kwargs: arguments of `keras.layers.Dense` except `activation`.

    Call arguments:
        inputs: `(batch, ..., features)`.

    Returns:
        `(batch, ..., units)` estimated costs.

    References:
        - Chung, Lin, Yang, IJCAI 2016, equation (5)

    Example:

    >>> model = keras.Sequential([keras.Input((4,)), CostOutput(3)])
    >>> model.output_shape
    (None, 3)
    """

    output_kind = "cost"

    def __init__(self, units: int, dtype: DTypeLike | None = None, **kwargs: object):
        activation = kwargs.pop("activation", None)
        if activation not in (None, "linear"):
            raise ValueError(
                "Expected no `activation`, since estimated costs are unbounded; "
                f"received {activation!r}."
            )
        super().__init__(units, dtype=head_dtype(dtype), **kwargs)


LINKS = ("log", "logit")


@keras.saving.register_keras_serializable(package="csdl_keras")
class InverseLink(keras.layers.Layer):
    """Turns logarithms or logits of estimated costs into estimated costs.

    `exp(u_k) / s` for the link `"log"`, `sigmoid(u_k) / s` for `"logit"`, behind a network that was
    trained with `PoissonCostLoss` or `LogisticCostLoss` and `cost_scale=s`. They are finite for all
    finite inputs: above 8e36 and below 1e-37 (8,000 and 1e-4 for float16) they change more and more
    slowly and keep their order.

    Args:
        link: `"log"` (default) or `"logit"`.
        cost_scale: `cost_scale` of the loss, `s`. Defaults to 1.
        dtype, **kwargs: as in `keras.layers.Layer`, but by default of at least 32 bits.

    Call arguments:
        inputs: `(batch, ..., D)`, the network's outputs `u`.

    Returns:
        `(batch, ..., D)` costs above 0.

    References:
        - McCullagh, Nelder: Generalized linear models, chapter 2 (1989)

    Example:

    >>> import numpy as np
    >>> print(ops.convert_to_numpy(InverseLink("log")(np.log([[0.5, 4.0]]))).round(3))
    [[0.5 4. ]]
    """

    output_kind = "cost"

    def __init__(
        self,
        link: str = "log",
        cost_scale: float = 1.0,
        dtype: DTypeLike | None = None,
        **kwargs: object,
    ):
        super().__init__(dtype=head_dtype(dtype), **kwargs)
        self.link = check_choice("link", link, LINKS)
        self.cost_scale = check_number(
            "cost_scale", cost_scale, 0, LARGEST_NUMBER, exclude_low=True
        )

    def call(self, inputs: Tensor) -> Tensor:
        logs = at_least_float32(inputs)
        if self.link == "logit":  # This is the logarithm of the logistic function.
            logs = ops.minimum(logs, 0.0) - ops.log(1.0 + ops.exp(-ops.abs(logs)))
        costs = bounded_exponential(logs - math.log(self.cost_scale), self.compute_dtype)
        return ops.cast(costs, self.compute_dtype)

    def compute_output_shape(self, input_shape: Shape) -> tuple:
        return tuple(input_shape)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "link": self.link, "cost_scale": self.cost_scale}
