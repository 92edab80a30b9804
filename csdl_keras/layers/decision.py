"""The decided class."""

from typing import Any

import keras

from csdl_keras._utils.checks import OUTPUTS, check_choice
from csdl_keras._utils.tensors import first_minimum, head_dtype, two_columns


@keras.saving.register_keras_serializable(package="csdl_keras")
class Decision(keras.layers.Layer):
    """Decides: argmin of costs, argmax of probabilities, the lowest index among equals.

    Args:
        output: what the inputs are: `"cost"`, or `"probability"`, where one
            column is P(y=1) of a binary classifier.
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

    def __init__(self, output: str = "cost", dtype: Any = None, **kwargs: Any):
        super().__init__(dtype=head_dtype(dtype), **kwargs)
        self.input_kind = check_choice("output", output, OUTPUTS)

    def build(self, input_shape: Any) -> None:
        self.built = True

    def call(self, inputs: Any) -> Any:
        if self.input_kind == "cost":
            return first_minimum(inputs)
        return first_minimum(-two_columns(inputs))

    def compute_output_spec(self, inputs: Any) -> keras.KerasTensor:
        return keras.KerasTensor(inputs.shape[:-1], dtype="int32")

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "output": self.input_kind}
