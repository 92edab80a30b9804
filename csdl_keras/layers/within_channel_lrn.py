"""Caffe's local response normalisation within a channel."""

from typing import Any

import keras
from keras import ops

from csdl_keras._checks import check_integer, check_number


@keras.saving.register_keras_serializable(package="csdl_keras")
class WithinChannelLRN(keras.layers.Layer):
    """Divides each input by a power of the mean square of its neighbours.

    `x / (1 + alpha / size^2 * sum x'^2)^beta`, the sum over the `size` x `size`
    window around the input in its own channel, zeros beyond the edge, divided
    by the full window also there.

    Args:
        size: side of the window, odd. Defaults to 3.
        alpha: weight of the mean square. Defaults to 5e-5.
        beta: the power. Defaults to 0.75.
        **kwargs: arguments of `keras.layers.Layer`, such as `name`.

    Call arguments:
        inputs: `(batch, height, width, channels)`.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: if an argument is out of range.

    References:
        - [Caffe, `lrn_layer.cpp`](https://github.com/BVLC/caffe/blob/master/src/caffe/layers/lrn_layer.cpp),
          `norm_region: WITHIN_CHANNEL`

    Example:

    >>> import numpy as np
    >>> y = WithinChannelLRN(alpha=9.0, beta=1.0)(np.ones((1, 1, 1, 1)))
    >>> float(y[0, 0, 0, 0])
    0.5
    """

    def __init__(self, size: int = 3, alpha: float = 5e-5, beta: float = 0.75, **kwargs: Any):
        super().__init__(**kwargs)
        self.size = check_integer("size", size)
        if self.size % 2 == 0:
            raise ValueError(f"Expected an odd `size`; received {size}.")
        self.alpha = check_number("alpha", alpha, low=0)
        self.beta = check_number("beta", beta, low=0)

    def build(self, input_shape: Any) -> None:
        if len(input_shape) != 4:
            raise ValueError(
                "Expected inputs of shape (batch, height, width, channels); "
                f"received {tuple(input_shape)}."
            )
        self.built = True

    def call(self, inputs: Any) -> Any:
        side = self.size // 2
        padded = ops.pad(ops.square(inputs), [[0, 0], [side, side], [side, side], [0, 0]])
        mean = ops.average_pool(
            padded, self.size, strides=1, padding="valid", data_format="channels_last"
        )
        return inputs / ops.power(1.0 + self.alpha * mean, self.beta)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "size": self.size,
            "alpha": self.alpha,
            "beta": self.beta,
        }
