"""Reconstruction losses of auto-encoders, summed over inputs."""

from typing import Any

import keras
from keras import ops

from csdl_keras._utils.checks import check_bool
from csdl_keras._utils.tensors import same_shape
from csdl_keras._utils.types import Tensor
from csdl_keras.losses.base import CheckedLoss


@keras.saving.register_keras_serializable(package="csdl_keras")
class SquaredErrorLoss(CheckedLoss):
    """Computes the squared error of a reconstruction, summed over inputs.

    `sum_j (x_j - t_j)^2`, averaged over the batch, for a linear decoder of inputs that may leave
    [0, 1]. Arguments are those of `keras.losses.Loss`.

    Example:

    >>> import numpy as np
    >>> print(float(SquaredErrorLoss()(np.array([[0.0, 3.0]]), np.array([[1.0, 1.0]]))))
    5.0
    """

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        x, t = same_shape("(batch, ...)", inputs=y_true, reconstructions=y_pred)
        return _sum_over_inputs(ops.square(x - t))


def _sum_over_inputs(values: Tensor) -> Tensor:
    return ops.sum(values, axis=tuple(range(1, len(values.shape))))


def reconstruction(inputs: Tensor, reconstructions: Tensor, from_logits: bool = False) -> Tensor:
    """Computes the cross-entropy between inputs in [0, 1] and reconstructions, summed over inputs.

    `-sum_j (x_j ln t_j + (1 - x_j) ln(1 - t_j))`, where `t` is the reconstruction, or its logistic
    function with `from_logits=True`, which is exact for logits of any size.

    Args:
        inputs: `(batch, ...)` with values in [0, 1].
        reconstructions: same shape; logits, or values that are clipped to [0, 1].
        from_logits: whether `reconstructions` are logits. Defaults to False.

    Returns:
        `(batch,)`, float32 or wider; NaN for an example with NaN.

    Example:

    >>> import numpy as np
    >>> loss = reconstruction(np.array([[0.0, 1.0]]), np.array([[0.5, 0.5]]))
    >>> print(np.round(keras.ops.convert_to_numpy(loss), 4))
    [1.3863]
    """
    check_bool("from_logits", from_logits)
    x, t = same_shape("(batch, ...)", inputs=inputs, reconstructions=reconstructions)
    if from_logits:
        return _sum_over_inputs(ops.softplus(t) - x * t)
    epsilon = keras.config.epsilon()
    t = ops.clip(t, epsilon, 1.0 - epsilon)
    return _sum_over_inputs(-(x * ops.log(t) + (1.0 - x) * ops.log(1.0 - t)))


@keras.saving.register_keras_serializable(package="csdl_keras")
class ReconstructionLoss(CheckedLoss):
    """Computes the cross-entropy of a reconstruction, summed over inputs.

    See `reconstruction`, equation (3). `keras.losses.BinaryCrossentropy` averages over inputs.

    Args:
        from_logits: whether `y_pred` are logits instead of values in [0, 1]. Defaults to False.
        **kwargs: `reduction`, `name` and `dtype`, as in `SOSRLoss`.

    Example:

    >>> import numpy as np
    >>> loss = ReconstructionLoss(from_logits=True)
    >>> print(round(float(loss(np.array([[0.0, 1.0]]), np.array([[0.0, 0.0]]))), 4))
    1.3863
    """

    def __init__(self, from_logits: bool = False, **kwargs: Any):
        super().__init__(**kwargs)
        self.from_logits = check_bool("from_logits", from_logits)

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return reconstruction(y_true, y_pred, self.from_logits)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "from_logits": self.from_logits}
