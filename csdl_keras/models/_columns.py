"""Encoded rows of data frames as the inputs of a network."""

from typing import Any

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.frames import Columns, Table
from csdl_keras._utils.types import ArrayLike, Tensor
from csdl_keras.layers.frame_columns import FrameColumns


def columns_layer(columns: Columns) -> FrameColumns:
    """Returns the layer that keeps the columns within a network."""
    return FrameColumns(columns.names, columns.categories, name="columns")


def one_hot(inputs: Tensor, table: Table) -> tuple[Tensor, ArrayLike]:
    """Returns features without NaN, symbolic ones and those of the training rows.

    Categories become one column each. Numbers are filled with their mean, and a column tells
    where one is missing, if any is missing in training.
    """
    categorical = table.columns.categorical
    numbers = [i for i in range(table.shape[1]) if i not in categorical]
    missing = [i for i in numbers if np.isnan(table.rows[:, i]).any()]
    codes = [(i, code) for i, number in categorical.items() for code in range(number)]
    if not (codes or missing):
        return inputs, table.rows
    means = [_mean(table.rows[:, i]) for i in numbers]
    layer = OneHot(numbers, means, missing, codes, name="one_hot")
    return layer(inputs), ops.convert_to_numpy(layer(table.rows.astype(inputs.dtype)))


def _mean(column: np.ndarray) -> float:
    present = column[~np.isnan(column)]
    return float(present.mean()) if len(present) else 0.0


@keras.saving.register_keras_serializable(package="csdl_keras")
class OneHot(keras.layers.Layer):
    """Fills numbers, marks missing ones, and turns categories into one column each.

    Args:
        numbers: indices of columns of numbers.
        means: what their missing numbers are filled with.
        missing: indices of columns whose missing numbers are marked.
        codes: pairs of the index of a column and a category of it.
        **kwargs: arguments of `keras.layers.Layer`.
    """

    def __init__(self, numbers: Any, means: Any, missing: Any, codes: Any, **kwargs: Any):
        super().__init__(**kwargs, autocast=False)
        self.numbers, self.means = tuple(numbers), tuple(means)
        self.missing, self.codes = tuple(missing), tuple(map(tuple, codes))

    def call(self, inputs: Tensor) -> Tensor:
        parts = []
        if self.numbers:
            numbers = ops.take(inputs, np.array(self.numbers), axis=1)
            means = ops.convert_to_tensor([self.means], inputs.dtype)
            parts.append(ops.where(ops.isnan(numbers), means, numbers))
        if self.missing:
            marked = ops.isnan(ops.take(inputs, np.array(self.missing), axis=1))
            parts.append(ops.cast(marked, inputs.dtype))
        if self.codes:
            columns, codes = np.array(self.codes).T
            chosen = ops.take(inputs, columns, axis=1)
            is_code = ops.equal(chosen, ops.convert_to_tensor(codes[None], inputs.dtype))
            parts.append(ops.cast(is_code, inputs.dtype))
        return ops.concatenate(parts, axis=1)

    def compute_output_shape(self, input_shape: Any) -> tuple[int | None, ...]:
        return (input_shape[0], len(self.numbers) + len(self.missing) + len(self.codes))

    def get_config(self) -> dict[str, Any]:
        names = ("numbers", "means", "missing", "codes")
        return {**super().get_config(), **{name: list(getattr(self, name)) for name in names}}
