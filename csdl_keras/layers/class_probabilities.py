"""Class probabilities from the output of any classifier."""

from typing import Any

import keras
from keras import ops

from csdl_keras._utils.checks import check_bool
from csdl_keras._utils.tensors import distributions, head_dtype


@keras.saving.register_keras_serializable(package="csdl_keras")
class ClassProbabilities(keras.layers.Layer):
    """Brings a classifier's output into the form `(batch, K)`, rows summing to 1.

    One unit, P(y=1), becomes the two columns `[1 - p, p]`. Logits become their
    softmax (one unit: its logistic function). A row that does not sum to 1, or
    has a negative entry, becomes NaN: it is no distribution, and a graph cannot
    raise.

    Args:
        from_logits: whether the inputs are logits. Defaults to False.
        dtype: dtype policy of the layer; `None` (default) is the global one, or
            float32 where that computes in 16 bits.
        **kwargs: arguments of `keras.layers.Layer`, such as `name`.

    Call arguments:
        inputs: `(batch, K)`, or `(batch, 1)` of a binary classifier.

    Returns:
        `(batch, max(K, 2))` probabilities.

    Raises:
        ValueError: if the inputs do not have two dimensions.

    Example:

    >>> import numpy as np
    >>> p = ClassProbabilities()(np.array([[0.25], [1.0]]))
    >>> print(keras.ops.convert_to_numpy(p))
    [[0.75 0.25]
     [0.   1.  ]]
    """

    output_kind = "probability"

    def __init__(self, from_logits: bool = False, dtype: Any = None, **kwargs: Any):
        super().__init__(dtype=head_dtype(dtype), **kwargs)
        self.from_logits = check_bool("from_logits", from_logits)

    def build(self, input_shape: Any) -> None:
        if len(input_shape) != 2:
            raise ValueError(
                "Expected a classifier's output of shape (batch, K); "
                f"received {tuple(input_shape)}."
            )
        self.built = True

    def call(self, inputs: Any) -> Any:
        if self.from_logits and inputs.shape[-1] == 1:
            # Not [1 - p, p], whose first entry rounds to 0 long before its logarithm is low.
            inputs = ops.concatenate([ops.zeros_like(inputs), inputs], axis=-1)
        if self.from_logits:
            return ops.softmax(inputs, axis=-1)
        return distributions(inputs)

    def compute_output_shape(self, input_shape: Any) -> tuple:
        return (*input_shape[:-1], max(input_shape[-1], 2))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "from_logits": self.from_logits}
