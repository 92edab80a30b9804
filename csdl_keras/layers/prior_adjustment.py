"""Class probabilities for other class frequencies than those of training."""

from typing import Any

import keras
from keras import ops

from csdl_keras._utils.tensors import head_dtype
from csdl_keras._utils.types import ArrayLike, DTypeLike, Shape, Tensor
from csdl_keras.costs.priors import LEAST_PROBABILITY, class_shares, prior_ratios


@keras.saving.register_keras_serializable(package="csdl_keras")
class PriorAdjustment(keras.layers.Layer):
    """Turns class probabilities into those under other class frequencies.

    `P'(y|x) = w_y P(y|x) / sum_k w_k P(k|x)` with `w_y = to_priors[y] / from_priors[y]`.
    Probabilities below 1e-30 count as 1e-30. `csdl_keras.adjust_priors` puts this layer into a
    trained model.

    Args:
        from_priors: `(K,)` class frequencies of training, above 0, as shares or counts.
        to_priors: `(K,)` class frequencies where the model is used, at least 0.
        dtype, **kwargs: as in `keras.layers.Layer`, but by default of at least 32 bits.

    Call arguments:
        probabilities: `(batch, ..., K)`, each row summing to 1.

    References:
        - [Saerens, Latinne, Decaestecker: Adjusting the outputs of a classifier to new a priori
          probabilities, Neural Computation 2002](https://doi.org/10.1162/089976602753284446)

    Example:

    >>> import numpy as np
    >>> layer = PriorAdjustment(from_priors=[0.5, 0.5], to_priors=[0.9, 0.1])
    >>> print(ops.convert_to_numpy(layer(np.array([[0.5, 0.5]]))).round(3))
    [[0.9 0.1]]
    """

    output_kind = "probability"

    def __init__(
        self,
        from_priors: ArrayLike,
        to_priors: ArrayLike,
        dtype: DTypeLike | None = None,
        **kwargs: object,
    ):
        super().__init__(dtype=head_dtype(dtype), **kwargs)
        self.from_priors = class_shares("from_priors", from_priors)
        self.to_priors = class_shares("to_priors", to_priors, len(self.from_priors), positive=False)

    def build(self, input_shape: Shape) -> None:
        classes = len(self.from_priors)
        if len(input_shape) < 2 or input_shape[-1] != classes:
            raise ValueError(
                f"Expected probabilities of shape (batch, {classes}), one column for each class "
                f"of `from_priors`; received shape {tuple(input_shape)}."
            )
        self.built = True

    def call(self, probabilities: Tensor) -> Tensor:
        ratios = ops.cast(prior_ratios(self.from_priors, self.to_priors), probabilities.dtype)
        weighted = ops.maximum(probabilities, LEAST_PROBABILITY) * ratios
        return weighted / ops.sum(weighted, axis=-1, keepdims=True)

    def compute_output_shape(self, input_shape: Shape) -> tuple:
        return tuple(input_shape)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "from_priors": self.from_priors.tolist(),
            "to_priors": self.to_priors.tolist(),
        }
