"""The axes of outputs that count examples, or pixels or times of examples, and their weights."""

from typing import Any

import keras
from keras import ops

from csdl_keras._utils.tensors import alike, tensor_or_array
from csdl_keras._utils.types import Tensor


def examples_shape(name: str, outputs: Tensor) -> tuple[int | None, ...]:
    """The static shape `(batch, ...)` of outputs `(batch, ..., D)` without their last axis."""
    shape = tuple(outputs.shape)
    if len(shape) < 2:
        raise ValueError(
            f"Expected `{name}` of shape (batch, D) or (batch, ..., D); received {shape}."
        )
    return shape[:-1]


def in_words(shape: tuple[int | None, ...], *more: int) -> str:
    """A static shape whose first axis is the batch, and further sizes, such as "(batch, 8, 3)"."""
    sizes = [str(size) for size in (*shape[1:], *more)]
    return f"({', '.join(['batch', *sizes])}{'' if sizes else ','})"


def check_weights(sample_weight: Tensor, outputs: Tensor, axes: int = 1) -> Any:
    """`None`, or a tensor or array with a weight for each value that is computed from `outputs`.

    `sample_weight` has a weight for each example or for each value, with or without a last axis of
    size 1; values have the first `axes` axes of outputs `(batch, ...)`.
    """
    if sample_weight is None:
        return None
    weights = tensor_or_array("sample_weight", sample_weight)
    given, shape = tuple(weights.shape), tuple(outputs.shape)[:axes]
    of_examples = given[1:] in ((), (1,)) and alike(given[:1], shape[:1])
    if axes == 1:
        if of_examples or alike(given, (*shape, 1)):
            return weights
    elif of_examples:
        # Keras would align the examples with the last axis of the values.
        weights = ops.reshape(weights, (-1,) + (1,) * (axes - 1))
        return ops.broadcast_to(weights, ops.shape(outputs)[:axes])
    elif alike(given, shape):
        return weights
    elif alike(given, (*shape, 1)):
        return ops.squeeze(weights, -1)
    each = "" if axes == 1 else f" or {shape}"
    raise ValueError(f"Expected `sample_weight` of shape {shape[:1]}{each}; received {given}.")


def masked_weights(sample_weight: Tensor, outputs: Tensor) -> Any:
    """`check_weights` for the rows of outputs `(batch, ..., D)`, 0 where Keras masks them."""
    weights = check_weights(sample_weight, outputs, len(outputs.shape) - 1)
    if len(outputs.shape) == 2:
        return weights
    return _RowWeights()(outputs, outputs, weights)


class _RowWeights(keras.losses.Loss):
    """Returns 1 for each row, which Keras multiplies by weights and by the mask.

    Masks of tensors are shown to losses alone, on JAX at least.
    """

    def __init__(self) -> None:
        super().__init__(name="row_weights", reduction=None)

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return ops.ones_like(y_pred[..., 0])
