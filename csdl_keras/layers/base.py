"""Base classes of layers."""

import inspect
from typing import Any

import keras

from csdl_keras._utils.tensors import head_dtype
from csdl_keras._utils.types import Shape


class PlainLayer(keras.layers.Layer):
    """Layer with an attribute for each argument; the shape of its outputs follows from `call`."""

    def compute_output_spec(self, *inputs: Any, **named_inputs: Any) -> keras.KerasTensor:
        return keras.Operation.compute_output_spec(self, *inputs, **named_inputs)

    def compute_output_shape(self, input_shape: Shape) -> tuple:
        return self.compute_output_spec(keras.KerasTensor(input_shape, self.compute_dtype)).shape

    def get_config(self) -> dict[str, Any]:
        _, *parameters = inspect.signature(type(self).__init__).parameters.values()
        names = [it.name for it in parameters if it.kind is it.POSITIONAL_OR_KEYWORD]
        return {**super().get_config(), **{name: getattr(self, name, None) for name in names}}


class ImageLayer(PlainLayer):
    """Layer of images of a known size."""

    def build(self, input_shape: Shape) -> None:
        if len(input_shape) != 4 or None in input_shape[1:]:
            raise ValueError(
                "Expected images of shape (batch, height, width, channels) of a known size; "
                f"received {tuple(input_shape)}."
            )


class WideLayer(PlainLayer):
    """Layer of at least 32 bits by default, since 16 bits would round costs and probabilities."""

    def __init__(self, **kwargs: Any):
        super().__init__(dtype=head_dtype(kwargs.pop("dtype", None)), **kwargs)
