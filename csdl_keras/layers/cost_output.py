"""The output layer of networks that estimate costs."""

from typing import Any

import keras

from csdl_keras._utils.tensors import head_dtype
from csdl_keras.outputs.fit_outputs import check_cost_layer


@keras.saving.register_keras_serializable(package="csdl_keras")
class CostOutput(keras.layers.Dense):
    """A linear `Dense` layer whose units estimate the cost of each decision.

    `r_k(x) = w_k . phi(x) + b_k`. It computes what `keras.layers.Dense(units)`
    computes; its type says that the outputs are costs, so that
    `csdl_keras.decide` takes their argmin, also after the model has been saved
    and loaded. Under a 16-bit policy it computes in float32.

    Args:
        units: number of decisions.
        dtype: dtype policy of the layer; `None` (default) is the global one, or
            float32 where that computes in 16 bits.
        **kwargs: arguments of `keras.layers.Dense` except `activation`.

    Call arguments:
        inputs: `(batch, features)`.

    Returns:
        `(batch, units)` estimated costs.

    Raises:
        ValueError: if an `activation` other than linear is asked for.

    References:
        - Chung, Lin, Yang, IJCAI 2016, equation (5)

    Example:

    >>> model = keras.Sequential([keras.Input((4,)), CostOutput(3)])
    >>> model.output_shape
    (None, 3)
    """

    output_kind = "cost"

    def __init__(self, units: int, dtype: Any = None, **kwargs: Any):
        activation = kwargs.pop("activation", None)
        if activation not in (None, "linear"):
            raise ValueError(
                "Expected no `activation`, since estimated costs are unbounded; "
                f"received {activation!r}."
            )
        super().__init__(units, dtype=head_dtype(dtype), **kwargs)

    def call(self, inputs: Any) -> Any:
        check_cost_layer(self)
        return super().call(inputs)
