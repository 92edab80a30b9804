"""Layers that convert, calibrate and adjust class probabilities."""

from typing import Any

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.arrays import check_rows, real_array
from csdl_keras._utils.checks import check_bool, check_number
from csdl_keras._utils.types import ArrayLike, Shape, Tensor
from csdl_keras.costs._tensors import distributions
from csdl_keras.costs.priors import LEAST_PROBABILITY, class_shares, prior_ratios
from csdl_keras.layers.base import WideLayer


@keras.saving.register_keras_serializable(package="csdl_keras")
class ClassProbabilities(WideLayer):
    """Turns a classifier's output into class probabilities, rows that sum to 1.

    A single unit, P(y=1), becomes the two columns `[1 - p, p]`. Logits become their softmax, or the
    logistic function of a single one. Rows that are not probabilities become NaN.

    Args:
        from_logits: whether the inputs are logits. Defaults to False.

    Call arguments:
        inputs: `(batch, ..., K)`, or `(batch, ..., 1)` of a binary classifier.

    Returns:
        `(batch, ..., max(K, 2))` probabilities.

    Example:

    >>> p = ClassProbabilities()(ops.array([[0.25], [1.0]]))
    >>> print(ops.convert_to_numpy(p))
    [[0.75 0.25]
     [0.   1.  ]]
    """

    output_kind = "probability"

    def __init__(self, from_logits: bool = False, **kwargs: Any):
        super().__init__(**kwargs)
        self.from_logits = check_bool("from_logits", from_logits)
        self.input_spec = keras.layers.InputSpec(min_ndim=2)

    def call(self, inputs: Tensor) -> Tensor:
        if self.from_logits and inputs.shape[-1] == 1:
            # The softmax of [0, u] is more exact than [1 - p, p], where 1 - p rounds to 0.
            inputs = ops.concatenate([ops.zeros_like(inputs), inputs], axis=-1)
        if self.from_logits:
            return ops.softmax(inputs, axis=-1)
        return distributions(inputs)


# This is about the smallest normal float32, so that the logarithm of 0 stays finite.
SMALLEST_PROBABILITY = 1.2e-38
#: Smaller probabilities are rarely reliable. The value was chosen by cost, as was the prior.
LEAST_KNOWN = 1e-4


@keras.saving.register_keras_serializable(package="csdl_keras")
class TemperatureScaling(WideLayer):
    """Makes class probabilities softer (`temperature` above 1) or sharper (below 1).

    `p_k^(1/T) / sum_j p_j^(1/T)`, the softmax of the logits divided by `T`. The argmax stays the
    same, but Bayes decisions change. `csdl_keras.calibrate` fits `T`, a non-trainable weight.

    Args:
        temperature: `T`, a finite number above 0. Defaults to 1, which changes nothing.

    Call arguments:
        probabilities: `(batch, ..., K)`, each row summing to 1.

    References:
        - [Guo et al.: On calibration of modern neural networks, ICML
          2017](https://proceedings.mlr.press/v70/guo17a.html)

    Example:

    >>> softer = TemperatureScaling(2.0)(ops.array([[0.9, 0.1]]))
    >>> print(ops.convert_to_numpy(softer).round(2))
    [[0.75 0.25]]
    """

    output_kind = "probability"

    def __init__(self, temperature: float = 1.0, **kwargs: Any):
        super().__init__(**kwargs)
        self._initial = check_number("temperature", temperature, low=0, exclude_low=True)

    def build(self, input_shape: Shape) -> None:
        initial = keras.initializers.Constant(self._initial)
        self.temperature = self.add_weight((), initial, trainable=False, name="temperature")

    def call(self, probabilities: Tensor) -> Tensor:
        return ops.softmax(self.logits(probabilities), axis=-1)

    def logits(self, probabilities: Tensor) -> Tensor:
        """Returns the scaled logits, from which the output is the softmax."""
        return ops.log(ops.maximum(probabilities, SMALLEST_PROBABILITY)) / self.temperature

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "temperature": self._initial}


@keras.saving.register_keras_serializable(package="csdl_keras")
class BiasCorrectedTemperatureScaling(TemperatureScaling):
    """Scales class probabilities by a temperature and a bias for each class.

    `softmax(ln(p) / T + b)`. The biases correct classes whose average probability is too high or
    too low. Both are non-trainable weights.

    Args:
        temperature: `T`, a finite number above 0. Defaults to 1.
        bias: `b`, `K` finite numbers, or `None` (default) for zeros.

    Call arguments:
        probabilities: `(batch, ..., K)`, each row summing to 1.

    References:
        - [Alexandari, Kundaje, Shrikumar: Maximum likelihood with bias-corrected
          calibration is hard-to-beat at label shift adaptation, ICML
          2020](https://proceedings.mlr.press/v119/alexandari20a.html)

    Example:

    >>> layer = BiasCorrectedTemperatureScaling(1.0, [0.0, 1.0])
    >>> print(ops.convert_to_numpy(layer(ops.array([[0.9, 0.1]]))).round(2))
    [[0.77 0.23]]
    """

    def __init__(self, temperature: float = 1.0, bias: ArrayLike | None = None, **kwargs: Any):
        super().__init__(temperature, **kwargs)
        self._initial_bias = None if bias is None else real_array("bias", bias, 1, "(K,)")

    def build(self, input_shape: Shape) -> None:
        super().build(input_shape)
        classes: Any = input_shape[-1]
        bias = np.zeros(classes) if self._initial_bias is None else self._initial_bias
        check_rows("bias", bias, classes, "classes")
        initial = keras.initializers.Constant(bias)
        self.bias = self.add_weight((classes,), initial, trainable=False, name="bias")

    def logits(self, probabilities: Tensor) -> Tensor:
        return super().logits(probabilities) + self.bias

    def get_config(self) -> dict[str, Any]:
        bias = None if self._initial_bias is None else self._initial_bias.tolist()
        return {**super().get_config(), "bias": bias}


@keras.saving.register_keras_serializable(package="csdl_keras")
class MatrixScaling(WideLayer):
    """Calibrates class probabilities by a matrix and a bias for each class.

    `softmax(ln(max(p, floor)) W + b)`. A temperature `T` is the matrix `I / T`. Both are
    non-trainable weights, which `csdl_keras.calibrate` fits.

    Args:
        matrix: `W`, `(K, K)` finite numbers, or `None` (default) for the identity.
        bias: `b`, `K` finite numbers, or `None` (default) for zeros.
        floor: lower bound of probabilities, as smaller ones are rarely reliable. Defaults to 1e-4.

    Call arguments:
        probabilities: `(batch, ..., K)`, each row summing to 1.

    References:
        - [Guo et al.: On calibration of modern neural networks, ICML
          2017](https://proceedings.mlr.press/v70/guo17a.html)

    Example:

    >>> layer = MatrixScaling([[0.5, 0.0], [0.0, 0.5]], bias=[0.0, 1.0])
    >>> print(ops.convert_to_numpy(layer(ops.array([[0.9, 0.1]]))).round(2))
    [[0.52 0.48]]
    """

    output_kind = "probability"

    def __init__(
        self,
        matrix: ArrayLike | None = None,
        bias: ArrayLike | None = None,
        floor: float = LEAST_KNOWN,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self._initial = [
            None if matrix is None else real_array("matrix", matrix, 2, "(K, K)"),
            None if bias is None else real_array("bias", bias, 1, "(K,)"),
        ]
        self.floor = check_number("floor", floor, 0, 1, exclude_low=True)

    def build(self, input_shape: Shape) -> None:
        classes: Any = input_shape[-1]
        plain = {"matrix": np.eye(classes), "bias": np.zeros(classes)}
        for (name, default), given in zip(plain.items(), self._initial, strict=True):
            start = default if given is None else given
            check_rows(name, start.T, classes, "classes")
            initial = keras.initializers.Constant(start)
            setattr(self, name, self.add_weight(start.shape, initial, trainable=False, name=name))

    def call(self, probabilities: Tensor) -> Tensor:
        logits = ops.log(ops.maximum(probabilities, self.floor))
        return ops.softmax(ops.matmul(logits, self.matrix) + self.bias, axis=-1)

    def get_config(self) -> dict[str, Any]:
        matrix, bias = (None if it is None else it.tolist() for it in self._initial)
        return {**super().get_config(), "matrix": matrix, "bias": bias}


@keras.saving.register_keras_serializable(package="csdl_keras")
class PriorAdjustment(WideLayer):
    """Turns class probabilities into those under other class frequencies.

    `P'(y|x) = w_y P(y|x) / sum_k w_k P(k|x)` with `w_y = to_priors[y] / from_priors[y]`; see
    `csdl_keras.adjust_priors`.

    Args:
        from_priors: `(K,)` class frequencies of training, above 0, as shares or counts.
        to_priors: `(K,)` class frequencies where the model is used, at least 0.

    Call arguments:
        probabilities: `(batch, ..., K)`, each row summing to 1.

    References:
        - [Saerens, Latinne, Decaestecker: Adjusting the outputs of a classifier to new a priori
          probabilities, Neural Computation 2002](https://doi.org/10.1162/089976602753284446)

    Example:

    >>> layer = PriorAdjustment(from_priors=[0.5, 0.5], to_priors=[0.9, 0.1])
    >>> print(ops.convert_to_numpy(layer(ops.array([[0.5, 0.5]]))).round(3))
    [[0.9 0.1]]
    """

    output_kind = "probability"

    def __init__(self, from_priors: ArrayLike, to_priors: ArrayLike, **kwargs: Any):
        super().__init__(**kwargs)
        self.from_priors = class_shares("from_priors", from_priors)
        classes = len(self.from_priors)
        self.to_priors = class_shares("to_priors", to_priors, classes, positive=False)
        self.input_spec = keras.layers.InputSpec(min_ndim=2, axes={-1: classes})

    def call(self, probabilities: Tensor) -> Tensor:
        ratios = ops.cast(prior_ratios(self.from_priors, self.to_priors), probabilities.dtype)
        weighted = ops.maximum(probabilities, LEAST_PROBABILITY) * ratios
        return weighted / ops.sum(weighted, axis=-1, keepdims=True)

    def get_config(self) -> dict[str, Any]:
        priors = {name: getattr(self, name).tolist() for name in ("from_priors", "to_priors")}
        return {**super().get_config(), **priors}
