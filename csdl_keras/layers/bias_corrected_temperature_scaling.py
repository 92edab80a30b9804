"""Probabilities corrected by a temperature and a bias for each class."""

from typing import Any

import keras
import numpy as np

from csdl_keras.layers.temperature_scaling import TemperatureScaling


@keras.saving.register_keras_serializable(package="csdl_keras")
class BiasCorrectedTemperatureScaling(TemperatureScaling):
    """Temperature scaling with a bias for each class.

    `softmax(ln(p) / T + b)`. The biases correct what a single temperature
    cannot: classes that are on the whole too probable or too improbable, as
    after training on re-weighted examples or where classes are rare. Both are
    non-trainable weights, saved with the model.

    Args:
        temperature: `T`, a finite number above 0. Defaults to 1.
        bias: `b`, `K` finite numbers, or `None` (default) for zeros.
        dtype: dtype policy of the layer; `None` (default) is the global one, or
            float32 where that computes in 16 bits.
        **kwargs: arguments of `keras.layers.Layer`, such as `name`.

    Call arguments:
        probabilities: `(batch, K)`, each row summing to 1.

    Returns:
        `(batch, K)`, each row summing to 1.

    Raises:
        ValueError: if an argument is out of range, or there is not one bias for
            each class.

    References:
        - [Alexandari, Kundaje, Shrikumar: Maximum likelihood with bias-corrected
          calibration is hard-to-beat at label shift adaptation, ICML
          2020](https://proceedings.mlr.press/v119/alexandari20a.html)

    Example:

    >>> layer = BiasCorrectedTemperatureScaling(1.0, [0.0, 1.0])
    >>> print(keras.ops.convert_to_numpy(layer(np.array([[0.9, 0.1]]))).round(2))
    [[0.77 0.23]]
    """

    def __init__(
        self, temperature: float = 1.0, bias: Any = None, dtype: Any = None, **kwargs: Any
    ):
        super().__init__(temperature, dtype=dtype, **kwargs)
        self._initial_bias = None if bias is None else _check_bias(bias)

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        classes = input_shape[-1]
        if self._initial_bias is not None and len(self._initial_bias) != classes:
            raise ValueError(
                f"Expected {classes} entries of `bias`, one for each class; "
                f"received {len(self._initial_bias)}."
            )
        self.bias = self.add_weight(
            shape=(classes,), initializer="zeros", trainable=False, name="bias"
        )
        if self._initial_bias is not None:
            self.bias.assign(self._initial_bias)

    def logits(self, probabilities: Any) -> Any:
        return super().logits(probabilities) + self.bias

    def get_config(self) -> dict[str, Any]:
        bias = None if self._initial_bias is None else self._initial_bias.tolist()
        return {**super().get_config(), "bias": bias}


def _check_bias(bias: Any) -> np.ndarray:
    array = np.asarray(bias)
    if array.dtype.kind not in "iuf" or array.ndim != 1 or not np.isfinite(array).all():
        raise ValueError(f"Expected `bias` to be K finite numbers; received {bias!r}.")
    return array.astype("float64")
