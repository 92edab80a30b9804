"""The output layer that a network of this package ends in."""

from typing import Any

import keras

from csdl_keras._checks import check_choice, check_integer
from csdl_keras._ops import head_dtype
from csdl_keras.layers import CostOutput
from csdl_keras.layers.decision import OUTPUTS


def output_layer(num_classes: int, output: str, **kwargs: Any) -> keras.layers.Dense:
    """Softmax for `output="probability"`, `CostOutput` for `"cost"`; float32 under 16 bits."""
    check_integer("num_classes", num_classes, low=2)
    check_choice("output", output, OUTPUTS)
    if output == "cost":
        return CostOutput(num_classes, name="cost", **kwargs)
    return keras.layers.Dense(
        num_classes, activation="softmax", dtype=head_dtype(None), name="probability", **kwargs
    )


def check_input_shape(input_shape: Any, rank: int | None = None) -> tuple[int, ...]:
    """Returns `input_shape` (without the batch) as a tuple of positive integers."""
    try:
        shape = tuple(input_shape)
    except TypeError:
        shape = ()
    if not shape or (rank is not None and len(shape) != rank):
        expected = "a tuple of sizes without the batch" if rank is None else f"{rank} sizes"
        raise ValueError(f"Expected `input_shape` to be {expected}; received {input_shape!r}.")
    return tuple(check_integer("input_shape", size) for size in shape)
