"""The share of decisions that are right."""

import keras
from keras import ops

from csdl_keras._utils.tensors import alike, check_numbered, same_shape
from csdl_keras._utils.types import Tensor
from csdl_keras.costs._batch_costs import BatchCosts
from csdl_keras.costs._tensors import class_index
from csdl_keras.metrics.decision_metric import DecisionMetric


@keras.saving.register_keras_serializable(package="csdl_keras")
class DecisionAccuracy(DecisionMetric):
    """Computes the share of decisions that are right.

    With integer labels, `(batch, ...)` or `(batch, ..., 1)`, a decision is right if it
    is the label; with cost vectors, `(batch, ..., D)`, if no other decision costs less.
    `metrics=["accuracy"]` would take the argmax of estimated costs, that is the
    costliest class. Labels that are not classes, and costs with NaN, make the result NaN.
    With costs of each example, `update_state(labels, probabilities, costs=costs)`,
    probabilities decide as in `AverageCost`.

    Args:
        output: kind of `y_pred`, `"cost"` or `"probability"`; `None` (default) as in
            `AverageCost`.
        name: name of the metric.
        dtype: dtype of the result; `None` (default) is at least float32.
        binary_costs: as in `AverageCost`. Defaults to False.

    Raises:
        ValueError: if `output` is unknown or contradicts the model, or the shapes do
            not match.

    Example:

    >>> import numpy as np
    >>> metric = DecisionAccuracy()
    >>> metric.update_state(np.array([0, 1]), np.array([[0.1, 0.7], [0.2, 0.3]]))
    >>> float(metric.result())
    0.5
    """

    def score(self, y_true: Tensor, chosen: Tensor, costs: BatchCosts | None = None) -> Tensor:
        y_true = ops.convert_to_tensor(y_true)
        if len(y_true.shape) == len(chosen.shape) and y_true.shape[-1] == 1:
            y_true = ops.squeeze(y_true, axis=-1)
        if len(y_true.shape) == len(chosen.shape) - 1:
            if not alike(tuple(y_true.shape), tuple(chosen.shape)[:-1]):
                raise ValueError(
                    f"Expected a label for each of {tuple(chosen.shape)[:-1]} outputs; received "
                    f"{tuple(y_true.shape)}."
                )
            dtype = keras.backend.standardize_dtype(y_true.dtype)
            check_numbered("decisions", chosen.shape[-1], dtype)
            index = ops.arange(chosen.shape[-1], dtype=chosen.dtype)
            right = ops.cast(y_true, chosen.dtype)[..., None] == index
            known = ops.any(right, axis=-1)
            if costs is not None:  # They say how many decisions are classes.
                known = class_index(y_true, costs.num_classes)[1]
        else:
            hint = "Pass integer labels or cost vectors as `y_true`."
            costs, _ = same_shape("(batch, ..., D)", hint, costs=y_true, outputs=chosen)
            right = costs <= ops.min(costs, axis=-1, keepdims=True)
            known = ops.logical_not(ops.any(ops.isnan(costs), axis=-1))
        hits = ops.sum(ops.where(right, chosen, 0.0), axis=-1)
        return ops.where(known, hits, float("nan"))
