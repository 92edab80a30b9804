"""Probabilities made softer or sharper by a temperature."""

from typing import Any

import keras
from keras import ops

from csdl_keras._checks import check_number
from csdl_keras._ops import head_dtype

SMALLEST = 1.2e-38


@keras.saving.register_keras_serializable(package="csdl_keras")
class TemperatureScaling(keras.layers.Layer):
    """Makes class probabilities softer (`temperature` above 1) or sharper (below 1).

    `p_k^(1/T) / sum_j p_j^(1/T)`, which is the softmax of the logits divided by
    `T`. The order of the classes stays as it is, so an argmax does not change;
    expected costs, and so Bayes decisions, do. The temperature is a
    non-trainable weight, saved with the model.

    Args:
        temperature: `T`, a finite number above 0. Defaults to 1, no change.
        dtype: dtype policy of the layer; `None` (default) is the global one, or
            float32 where that computes in 16 bits.
        **kwargs: arguments of `keras.layers.Layer`, such as `name`.

    Call arguments:
        probabilities: `(batch, K)`, each row summing to 1.

    Returns:
        `(batch, K)`, each row summing to 1.

    Raises:
        ValueError: if the temperature is out of range.

    References:
        - [Guo et al.: On calibration of modern neural networks, ICML
          2017](https://proceedings.mlr.press/v70/guo17a.html)

    Example:

    >>> import numpy as np
    >>> softer = TemperatureScaling(2.0)(np.array([[0.9, 0.1]]))
    >>> print(ops.convert_to_numpy(softer).round(2))
    [[0.75 0.25]]
    """

    output_kind = "probability"

    def __init__(self, temperature: float = 1.0, dtype: Any = None, **kwargs: Any):
        super().__init__(
            trainable=kwargs.pop("trainable", False), dtype=head_dtype(dtype), **kwargs
        )
        self._initial = check_number("temperature", temperature, low=0, exclude_low=True)

    def build(self, input_shape: Any) -> None:
        self.temperature = self.add_weight(
            shape=(),
            initializer=keras.initializers.Constant(self._initial),
            trainable=False,
            name="temperature",
        )
        self.built = True

    def call(self, probabilities: Any) -> Any:
        return ops.softmax(self.logits(probabilities), axis=-1)

    def logits(self, probabilities: Any) -> Any:
        """What the softmax is taken of."""
        # The smallest normal float32 keeps the logarithm of a probability of 0 finite.
        return ops.log(ops.maximum(probabilities, SMALLEST)) / self.temperature

    def compute_output_shape(self, input_shape: Any) -> tuple:
        return tuple(input_shape)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "temperature": self._initial}
