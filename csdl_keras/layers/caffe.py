"""Pooling and local response normalisation as Caffe computes them."""

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.checks import check_choice, check_integer, check_number
from csdl_keras._utils.types import Tensor
from csdl_keras.layers.base import ImageLayer, PlainLayer


@keras.saving.register_keras_serializable(package="csdl_keras")
class CaffePooling2D(ImageLayer):
    """Computes the maximum or average over windows, placed as in Caffe.

    The number of windows is rounded **up**, `ceil((size - pool_size) / strides) + 1`. The last one
    may extend over the lower and right edge; only inputs inside the image count, also in the
    divisor of an average.

    Args:
        mode: `"max"` or `"average"`.
        pool_size: side of the square window. Defaults to 3.
        strides: step of the windows, at most `pool_size`. Defaults to 2.

    Call arguments:
        inputs: `(batch, height, width, channels)` with known height and width.

    References:
        - [Caffe, `pooling_layer.cpp`](https://github.com/BVLC/caffe/blob/master/src/caffe/layers/pooling_layer.cpp)

    Example:

    >>> x = ops.reshape(ops.arange(4.0), (1, 2, 2, 1))
    >>> float(CaffePooling2D("average")(x)[0, 0, 0, 0])
    1.5
    """

    def __init__(self, mode: str, pool_size: int = 3, strides: int = 2, **kwargs: object):
        super().__init__(**kwargs)
        self.mode = check_choice("mode", mode, ("max", "average"))
        self.pool_size = check_integer("pool_size", pool_size)
        self.strides = check_integer("strides", strides)

    def call(self, inputs: Tensor) -> Tensor:
        height, width = inputs.shape[1:3]
        beyond = [-(size - self.pool_size) % self.strides for size in (height, width)]
        pad = [[0, 0], [0, beyond[0]], [0, beyond[1]], [0, 0]]
        pool = {"pool_size": self.pool_size, "strides": self.strides, "padding": "valid"}
        pool["data_format"] = "channels_last"
        if self.mode == "max":
            return ops.max_pool(ops.pad(inputs, pad, constant_values=-np.inf), **pool)
        mean = ops.average_pool(ops.pad(inputs, pad), **pool)
        inside = ops.pad(ops.ones((1, height, width, 1), dtype=mean.dtype), pad)
        return mean / ops.average_pool(inside, **pool)


@keras.saving.register_keras_serializable(package="csdl_keras")
class WithinChannelLRN(PlainLayer):
    """Normalises each input by the mean square of its neighbours in its channel.

    It outputs `x / (1 + alpha / size^2 * sum x'^2)^beta`, where the sum is over the `size` x `size`
    window around the input. Inputs beyond the edge count as zeros.

    Args:
        size: side of the window, odd. Defaults to 3.
        alpha: weight of the mean square. Defaults to 5e-5.
        beta: exponent of the divisor. Defaults to 0.75.

    Call arguments:
        inputs: `(batch, height, width, channels)`.

    References:
        - [Caffe, `lrn_layer.cpp`](https://github.com/BVLC/caffe/blob/master/src/caffe/layers/lrn_layer.cpp),
          `norm_region: WITHIN_CHANNEL`

    Example:

    >>> y = WithinChannelLRN(alpha=9.0, beta=1.0)(ops.ones((1, 1, 1, 1)))
    >>> float(y[0, 0, 0, 0])
    0.5
    """

    def __init__(self, size: int = 3, alpha: float = 5e-5, beta: float = 0.75, **kwargs: object):
        super().__init__(**kwargs)
        self.size = check_integer("size", size)
        self.alpha = check_number("alpha", alpha, low=0)
        self.beta = check_number("beta", beta, low=0)
        self.input_spec = keras.layers.InputSpec(ndim=4)

    def call(self, inputs: Tensor) -> Tensor:
        side = self.size // 2
        padded = ops.pad(ops.square(inputs), [[0, 0], [side, side], [side, side], [0, 0]])
        mean = ops.average_pool(
            padded, self.size, strides=1, padding="valid", data_format="channels_last"
        )
        return inputs / ops.power(1.0 + self.alpha * mean, self.beta)
