"""The share of decisions that are right."""

import keras
from keras import ops

from csdl_keras._utils.tensors import alike, check_numbered, tensor_or_array
from csdl_keras._utils.types import Tensor
from csdl_keras.metrics.base import DecisionMetric


@keras.saving.register_keras_serializable(package="csdl_keras")
class DecisionAccuracy(DecisionMetric):
    """Computes the share of decisions that are right.

    With integer labels, `(batch, ...)` or `(batch, ..., 1)`, a decision is right if it is the
    label; with cost vectors, `(batch, ..., D)`, if no other decision costs less.
    `metrics=["accuracy"]` would take the argmax of estimated costs, that is the costliest class.
    Labels that are not classes, and costs with NaN, make the result NaN. Arguments are those of
    `AverageCost` that begin with `output`.

    Example:

    >>> import numpy as np
    >>> metric = DecisionAccuracy()
    >>> metric.update_state(np.array([0, 1]), np.array([[0.1, 0.7], [0.2, 0.3]]))
    >>> float(metric.result())
    0.5
    """

    def targets(self, y_true: Tensor, shape: tuple[int | None, ...]) -> Tensor:
        y_true = tensor_or_array("y_true", y_true)
        given = tuple(y_true.shape)
        if len(given) == len(shape) + 1 and given[-1] == 1:
            y_true, given = y_true[..., 0], given[:-1]
        if len(given) == len(shape) and not alike(given, shape):
            raise ValueError(f"Expected a label for each of {shape} outputs; received {given}.")
        return y_true

    def vectors(self, y_true: Tensor, y_pred: Tensor) -> Tensor | None:
        of_costs = len(y_true.shape) == len(y_pred.shape)
        return ops.convert_to_tensor(y_true) if of_costs else None

    def score(self, y_true: Tensor, chosen: Tensor, vectors: Tensor | None) -> Tensor:
        y_true = ops.convert_to_tensor(y_true)
        if len(y_true.shape) == len(chosen.shape) - 1:
            dtype = keras.backend.standardize_dtype(y_true.dtype)
            check_numbered("decisions", chosen.shape[-1], dtype)
            index = ops.arange(chosen.shape[-1], dtype=chosen.dtype)
            right = ops.cast(y_true, chosen.dtype)[..., None] == index
            known = ops.any(right, axis=-1)
            if vectors is not None:  # Those of the labels, NaN for one that is no class.
                known = ops.logical_not(ops.any(ops.isnan(vectors), axis=-1))
        else:
            right = vectors <= ops.min(vectors, axis=-1, keepdims=True)
            known = ops.logical_not(ops.any(ops.isnan(vectors), axis=-1))
        hits = ops.sum(ops.where(right, chosen, 0.0), axis=-1)
        return ops.where(known, hits, float("nan"))
