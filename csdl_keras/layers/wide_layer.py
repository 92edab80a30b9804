"""The base class of layers that 16 bits are too few for."""

from typing import Any

import keras

from csdl_keras._utils.tensors import head_dtype
from csdl_keras._utils.types import DTypeLike, Shape


class WideLayer(keras.layers.Layer):
    """Layer that computes in at least 32 bits by default, since 16 round costs and probabilities.

    Its outputs have the shape of its inputs.
    """

    def __init__(self, dtype: DTypeLike | None = None, **kwargs: Any):
        super().__init__(dtype=head_dtype(dtype), **kwargs)

    def compute_output_shape(self, input_shape: Shape) -> tuple:
        return tuple(input_shape)
