"""The decision by costs or by probabilities."""

from typing import Any

import keras

from csdl_keras._utils.checks import OUTPUTS, check_choice
from csdl_keras._utils.tensors import first_minimum, head_dtype, two_columns
from csdl_keras._utils.types import DTypeLike, Shape, Tensor


@keras.saving.register_keras_serializable(package="csdl_keras")
class Decision(keras.layers.Layer):
    """Decides by the argmin of costs or the argmax of probabilities.

    The lowest index wins a tie.

    Args:
        output: kind of the inputs: `"cost"` (default), or `"probability"`, where one
            column is P(y=1) of a binary classifier.
        dtype: dtype policy of the layer; `None` (default) is the global policy, or
            float32 where that computes in 16 bits.
        **kwargs: arguments of `keras.layers.Layer`, such as `name`.

    Call arguments:
        inputs: `(batch, D)`.

    Returns:
        int32 tensor `(batch,)`; -1 for a row that holds NaN.

    Raises:
        ValueError: if `output` is neither of the two.

    Example:

    >>> import numpy as np
    >>> decided = Decision("cost")(np.array([[2.0, 1.0, 1.0]]))
    >>> keras.ops.convert_to_numpy(decided).tolist()
    [1]
    """

    def __init__(self, output: str = "cost", dtype: DTypeLike | None = None, **kwargs: Any):
        super().__init__(dtype=head_dtype(dtype), **kwargs)
        self.input_kind = check_choice("output", output, OUTPUTS)

    def build(self, input_shape: Shape) -> None:
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        if self.input_kind == "cost":
            return first_minimum(inputs)
        return first_minimum(-two_columns(inputs))

    def compute_output_spec(self, inputs: Tensor) -> keras.KerasTensor:
        return keras.KerasTensor(inputs.shape[:-1], dtype="int32")

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "output": self.input_kind}
