"""A convolution whose kernels are standardised, so that it needs no normalisation of outputs."""

import math
from typing import Any

import keras
from keras import ops

from csdl_keras._utils.types import Shape, Tensor

# The standard deviation of max(0, z) for normal z, inverted: outputs keep the variance 1.
_RELU_GAIN = math.sqrt(2 / (1 - 1 / math.pi))


@keras.saving.register_keras_serializable(package="csdl_keras")
class StandardizedConv2D(keras.layers.Conv2D):
    """A 2D convolution with scaled weight standardisation.

    It convolves with `g_o (w_o - mean(w_o)) / (std(w_o) sqrt(n))` in place of the `n` weights `w_o`
    of an output channel `o`, where `g_o` is trained and begins such that the variance of
    activations stays about the same from layer to layer, as batch normalisation does it. Arguments
    are those of `keras.layers.Conv2D`.

    References:
        - [Brock, De, Smith: Characterizing signal propagation to close the performance gap in
          unnormalized ResNets, ICLR 2021](https://arxiv.org/abs/2101.08692)

    Example:

    >>> tuple(StandardizedConv2D(4, 3, activation="relu")(ops.ones((2, 8, 8, 1))).shape)
    (2, 6, 6, 4)
    """

    def build(self, input_shape: Shape) -> None:
        relu = self.activation is keras.activations.relu
        # Before the kernel, after which a layer with LoRA takes no more weights.
        self.gain = self.add_weight(
            shape=(self.filters,),
            initializer=keras.initializers.Constant(_RELU_GAIN if relu else 1.0),
            name="gain",
        )
        super().build(input_shape)
        if math.prod(self._kernel.shape[:-1]) < 2:
            raise ValueError(
                "Expected kernels of at least 2 weights for each output channel, since their mean "
                f"is subtracted; received kernels of shape {tuple(self._kernel.shape)}."
            )

    def convolution_op(self, inputs: Tensor, kernel: Tensor) -> Any:
        weights = ops.cast(kernel, "float32")  # 16 bits would round the variance
        axes = list(range(len(weights.shape) - 1))
        size = math.prod(weights.shape[:-1])
        weights = weights - ops.mean(weights, axes, keepdims=True)
        variance = ops.mean(ops.square(weights), axes, keepdims=True)
        gain = ops.cast(self.gain, "float32")
        weights = weights * ops.rsqrt(size * variance + keras.config.epsilon()) * gain
        return super().convolution_op(inputs, ops.cast(weights, inputs.dtype))

    def save_own_variables(self, store: Any) -> None:
        super().save_own_variables(store)  # the kernel and the bias
        if self.built:
            store["gain"] = self.gain

    def load_own_variables(self, store: Any) -> None:
        super().load_own_variables(store)
        if self.built:
            self.gain.assign(store["gain"])
