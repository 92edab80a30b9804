"""The layer that keeps the columns of a data frame within the network built for it."""

from collections.abc import Sequence
from typing import Any

import keras

from csdl_keras._utils.frames import Columns
from csdl_keras._utils.types import Shape, Tensor


@keras.saving.register_keras_serializable(package="csdl_keras")
class FrameColumns(keras.layers.Layer):
    """Returns its inputs, encoded rows of a data frame, and knows how they were encoded.

    Args:
        names: names of the columns.
        categories: for each column its categories, or `None` for numbers.
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: `(batch, F)`; category number `i` is `i`, and NaN is missing or unknown.
    """

    def __init__(
        self, names: Sequence[Any], categories: Sequence[Sequence[Any] | None], **kwargs: Any
    ):
        # In 16 bits, large numbers would overflow and close ones become equal.
        super().__init__(**kwargs, autocast=False)
        listed = [None if them is None else tuple(them) for them in categories]
        self.columns = Columns(tuple(names), tuple(listed))

    def call(self, inputs: Tensor) -> Tensor:
        return inputs

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        categories = [them if them is None else list(them) for them in self.columns.categories]
        names = list(self.columns.names)
        return {**super().get_config(), "names": names, "categories": categories}
