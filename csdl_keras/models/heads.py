"""Output layers of networks, and checks of their arguments."""

from typing import Any

import keras

from csdl_keras._utils.checks import OUTPUTS, check_choice, check_integer
from csdl_keras._utils.data_model import with_data
from csdl_keras._utils.seeds import Seeds
from csdl_keras._utils.tensors import head_dtype
from csdl_keras._utils.types import Tensor
from csdl_keras.layers import CostOutput


def output_layer(num_classes: int, output: str, **kwargs: Any) -> keras.layers.Dense:
    """Returns a softmax layer for `output="probability"`, and a `CostOutput` for `"cost"`."""
    if output == "cost":
        return CostOutput(num_classes, name="cost", **kwargs)
    return keras.layers.Dense(
        num_classes, activation="softmax", dtype=head_dtype(None), name="probability", **kwargs
    )


def with_output_layer(
    inputs: Tensor, features: Tensor, num_classes: int, output: str, seeds: Seeds, name: str
) -> keras.Model:
    """Returns a model with an output layer, or without one for `output="features"`."""
    if output != "features":
        initializer = seeds.initializer("glorot_uniform")
        features = output_layer(num_classes, output, kernel_initializer=initializer)(features)
    return with_data(keras.Model(inputs, features, name=name))


def check_output_layer(num_classes: int, output: str, others: tuple[str, ...] = ()) -> None:
    """Raises an error for an invalid number of classes or an unknown `output`."""
    check_integer("num_classes", num_classes, low=2)
    check_choice("output", output, (*OUTPUTS, *others))
