"""The base of metrics that score the decision a model's output stands for."""

from typing import Any

import keras
from keras import ops

from csdl_keras._checks import check_choice
from csdl_keras._ops import at_least_float32, float_dtype, two_columns
from csdl_keras._tensor_checks import check_weights, tensor_or_array
from csdl_keras.layers.decision import OUTPUTS


class DecisionMetric(keras.metrics.Mean):
    """Base class: the weighted mean of a score that each example's decision gets.

    The decision is the argmin of costs or the argmax of probabilities, the
    lowest index among equals. A subclass implements `score(y_true, chosen)`,
    where `chosen` is the decision one-hot, `(batch, D)`, returning `(batch,)`.

    Args:
        output: what `y_pred` is: `"cost"` (default), `(batch, D)`, or
            `"probability"`, `(batch, K)` or `(batch, 1)`.
        name: name of the metric.
        dtype: dtype of the result, by default at least float32.
    """

    def __init__(self, output: str = "cost", name: str | None = None, dtype: Any = None):
        super().__init__(name=name, dtype=dtype or float_dtype())
        self.output = check_choice("output", output, OUTPUTS)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Adds a batch.

        Args:
            y_true: what `score` takes.
            y_pred: `(batch, D)` outputs of the model.
            sample_weight: `None`, or `(batch,)` weights.

        Raises:
            ValueError: if shapes do not match or an array holds no numbers. Nothing is
                added then.
        """
        y_true = tensor_or_array("y_true", y_true)
        y_pred = at_least_float32(tensor_or_array("y_pred", y_pred))
        if len(y_pred.shape) != 2:
            raise ValueError(
                f"Expected `y_pred` of shape (batch, D); received {tuple(y_pred.shape)}."
            )
        sample_weight = check_weights(sample_weight, y_pred)
        values = self.decision_costs(y_pred)
        # argmin takes NaN for the smallest value on some backends and not on others.
        unknown = ops.any(ops.isnan(values), axis=-1)
        chosen = ops.one_hot(ops.argmin(values, axis=-1), values.shape[-1], dtype=values.dtype)
        score = ops.where(unknown, float("nan"), self.score(y_true, chosen))
        super().update_state(score, sample_weight=sample_weight)

    def decision_costs(self, y_pred: Any) -> Any:
        """`(batch, D)` values, the smallest of which is decided for."""
        return y_pred if self.output == "cost" else -two_columns(y_pred)

    def score(self, y_true: Any, chosen: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must implement `score`.")

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "output": self.output}
