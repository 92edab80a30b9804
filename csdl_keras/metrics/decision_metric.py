"""The base of metrics that score the decision a model's output stands for."""

from typing import Any

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.checks import OUTPUTS, check_choice
from csdl_keras._utils.tensors import (
    at_least_float32,
    check_weights,
    distributions,
    float_dtype,
    tensor_or_array,
    two_columns,
)
from csdl_keras.outputs.fit_outputs import FitOutput, check_class_weight, fit_output
from csdl_keras.outputs.values import all_probabilities, check_values, known_values


class DecisionMetric(keras.metrics.Mean):
    """Base class: the weighted mean of a score that each example's decision gets.

    The decision is the argmin of costs or the argmax of probabilities, the
    lowest index among equals. Which of the two `y_pred` is follows in `fit` and
    `evaluate` from the model's structure and loss; elsewhere rows that sum to 1
    have to be named. What is taken for something else raises before the first
    step; inside a function that you compile yourself, where nothing can raise,
    the result is NaN. A subclass implements `score(y_true, chosen)`, where
    `chosen` is the decision one-hot, `(batch, D)`, returning `(batch,)`.

    Args:
        output: what `y_pred` is: `"cost"`, `(batch, D)`, or `"probability"`,
            `(batch, K)` or `(batch, 1)`; `None` (default) is what the model
            outputs, and costs where there is no model.
        name: name of the metric.
        dtype: dtype of the result, by default at least float32.
    """

    def __init__(self, output: str | None = None, name: str | None = None, dtype: Any = None):
        super().__init__(name=name, dtype=dtype or float_dtype())
        self.output = None if output is None else check_choice("output", output, OUTPUTS)
        self._seen_as: str | None = None

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Adds a batch.

        Args:
            y_true: what `score` takes.
            y_pred: `(batch, D)` outputs of the model.
            sample_weight: `None`, or `(batch,)` weights.

        Raises:
            ValueError: if shapes do not match, an array holds no numbers, or `y_pred`
                is not the kind of output that it is taken for. Nothing is added then.
        """
        found = fit_output(y_pred)
        y_true = tensor_or_array("y_true", y_true)
        y_pred = tensor_or_array("y_pred", y_pred)
        if len(y_pred.shape) != 2:
            raise ValueError(
                f"Expected `y_pred` of shape (batch, D); received {tuple(y_pred.shape)}."
            )
        if found is not None and len(y_true.shape) == 2 and y_true.shape[1] not in (None, 1):
            check_class_weight()
        kind, sure = self._kind(found, y_pred)
        y_pred = at_least_float32(y_pred)
        sample_weight = check_weights(sample_weight, y_pred)
        if not sure:
            y_pred = self._nan_if_other(y_pred, kind)
        values = self.decision_costs(y_pred, kind)
        # argmin takes NaN for the smallest value on some backends and not on others.
        unknown = ops.any(ops.isnan(values), axis=-1)
        chosen = ops.one_hot(ops.argmin(values, axis=-1), values.shape[-1], dtype=values.dtype)
        score = ops.where(unknown, float("nan"), self.score(y_true, chosen))
        super().update_state(score, sample_weight=sample_weight)

    def reset_state(self) -> None:
        """Forgets all batches, and what kind of output they were seen to be."""
        super().reset_state()
        self._seen_as = None

    def wanted(self) -> str | None:
        """The kind of output that the arguments ask for, if they do."""
        return self.output

    def _kind(self, found: FitOutput | None, y_pred: Any) -> tuple[str, bool]:
        """Tells what `y_pred` decides as, and whether that is sure without a look at its values.

        Raises:
            ValueError: if the model, or a value that is known, shows that it is not that.
        """
        wanted = self.wanted()
        kind = wanted or "cost"
        if found is not None and found.kind in OUTPUTS:
            if wanted not in (None, found.kind):
                raise ValueError(
                    f"Expected {self.name!r} to take the outputs of {found.words} for "
                    f"{_PLURAL[found.kind]}; received {self._received()}."
                )
            return found.kind, True
        no_rows = ("other", "probability")
        if found is not None and (found.kind == "score" or (found.kind, kind) == no_rows):
            raise ValueError(
                f"Expected costs or probabilities for {self.name!r}; received the outputs of "
                f"{found.words}: they are neither, but scores of classes such as logits. End the "
                "model in a softmax, or in one logistic unit; or evaluate "
                "bayes_classifier(model, cost_matrix, from_logits=True)."
            )
        if wanted is None and y_pred.shape[1] == 1:
            raise ValueError(
                f"Expected outputs of at least two decisions for {self.name!r}; received one "
                "column. Pass output='probability' if it is the probability of class 1."
            )
        if found is not None and found.kind == "other" and kind == "cost":
            return kind, True
        if found is not None and found.kind == "distribution" and not self._believes(y_pred):
            raise ValueError(
                f"Expected {self.name!r} to be told the kind of the outputs of {found.words}, "
                f"whose rows sum to 1 as probabilities do; received {self._received()}. Pass "
                "output='probability'."
            )
        is_array = isinstance(y_pred, np.ndarray)
        if not is_array and self._seen_as == kind:
            return kind, True
        values = known_values(y_pred)
        if values is None:
            return kind, kind == "cost" and self._believes(y_pred)
        check_values(values, wanted)
        if not is_array:
            self._seen_as = kind
        return kind, True

    def _believes(self, y_pred: Any) -> bool:
        """Tells whether rows that sum to 1 may be what the arguments say, see `check_values`."""
        wanted = self.wanted()
        return wanted == "probability" or (wanted == "cost" and y_pred.shape[1] <= 2)

    def _received(self) -> str:
        return f"output={self.output!r}"

    def _nan_if_other(self, y_pred: Any, kind: str) -> Any:
        """Outputs, NaN where they are not of that kind, inside a graph, which cannot raise."""
        if kind == "probability":
            return distributions(y_pred)
        nan = ops.cast(np.nan, y_pred.dtype)
        return ops.where(all_probabilities(y_pred), nan, y_pred)

    def decision_costs(self, y_pred: Any, kind: str) -> Any:
        """`(batch, D)` values, the smallest of which is decided for.

        Args:
            y_pred: `(batch, D)` outputs.
            kind: `"cost"` or `"probability"`, what they are.
        """
        return y_pred if kind == "cost" else -two_columns(y_pred)

    def score(self, y_true: Any, chosen: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must implement `score`.")

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "output": self.output}


_PLURAL = {"cost": "costs", "probability": "probabilities"}
