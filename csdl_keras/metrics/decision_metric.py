"""The base class of metrics that score decisions."""

from typing import Any

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.checks import OUTPUTS, check_bool, check_choice
from csdl_keras._utils.example_axes import examples_shape, masked_weights
from csdl_keras._utils.kept_values import restoring_values
from csdl_keras._utils.tensors import (
    at_least_float32,
    check_wide,
    default_name,
    distributions,
    float_dtype,
    one_hot_counts,
    probability_rows,
    tensor_or_array,
    two_columns,
)
from csdl_keras._utils.types import DTypeLike, Tensor
from csdl_keras.costs._batch_costs import BatchCosts, BatchCostsLike, batch_costs
from csdl_keras.costs.checks import check_not_one_hot
from csdl_keras.outputs.fit_outputs import FitOutput, check_class_weight, fit_output
from csdl_keras.outputs.values import check_values, known_values

_PLURAL = {"cost": "costs", "probability": "probabilities"}


class DecisionMetric(keras.metrics.Mean):
    """Base class of metrics that average a score of each example's decision.

    Outputs with axes between, such as `(batch, height, width, D)` with a decision for each pixel,
    count as that many examples; those that Keras masks, such as padding of sequences, do not count.

    The decision is the argmin of costs or the argmax of probabilities, the lowest
    index among equals. In `fit` and `evaluate`, the model's structure and loss tell
    which of the two `y_pred` is; elsewhere `output` must name rows that sum to 1. A
    wrong kind raises before the first step; inside a function that you compile
    yourself, where nothing can raise, it makes the result NaN. A subclass
    implements `score`.

    `result` raises at the end of an epoch all of whose cost vectors are one-hot, of three
    classes or more.

    Args:
        output: kind of `y_pred`: `"cost"`, `(batch, ..., D)`, or `"probability"`,
            `(batch, ..., K)` or `(batch, ..., 1)`; `None` (default) is the kind that the model
            outputs, or costs where there is no model.
        name: name of the metric; `None` (default) is the class's name in snake case.
        dtype: dtype of the result; `None` (default) is at least float32.
        binary_costs: whether a single decision of each example may cost 1 and the others
            nothing. Defaults to False, which takes such rows for one-hot labels.

    Raises:
        ValueError: if `output` is unknown, or `dtype` has 16 bits, which would round counts.
    """

    def __init__(
        self,
        output: str | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        binary_costs: bool = False,
    ):
        super().__init__(name=name or default_name(self), dtype=dtype or float_dtype())
        check_wide(self.dtype)
        self.output = None if output is None else check_choice("output", output, OUTPUTS)
        self.binary_costs = check_bool("binary_costs", binary_costs)
        self._seen_as: str | None = None
        self._one_hot_counts = self.add_variable((4,), "zeros", name="one_hot_counts")
        self._costs_seen = False
        self._updates = 0

    @restoring_values
    def update_state(
        self,
        y_true: Tensor,
        y_pred: Tensor,
        sample_weight: Tensor | None = None,
        costs: BatchCostsLike | None = None,
    ) -> None:
        """Adds a batch.

        Args:
            y_true: targets, as `score` takes them; integer labels with `costs`.
            y_pred: `(batch, ..., D)` outputs of the model.
            sample_weight: `None`, or weights `(batch,)` or `(batch, ...)`.
            costs: costs of the batch's examples that are known when deciding: `(batch, K, D)`,
                `C[n, true, decision]`, `(K, D)`, or `csdl_keras.costs.AffineCosts`. Probabilities
                `(batch, K)` then decide by the lowest expected cost, and a decision costs
                `C[n, y_n, d_n]`. `None` (default) decides and scores by the metric's own
                arguments.

        Raises:
            ValueError: if shapes do not match, an array does not hold numbers, or
                `y_pred` is of another kind than expected. Nothing is added then.
        """
        found = fit_output(y_pred)
        y_pred = tensor_or_array("y_pred", y_pred)
        whole = isinstance(y_pred, np.ndarray)  # A model's outputs are those of a batch.
        examples_shape("y_pred", y_pred)
        known = batch_costs(costs, y_pred)
        y_true = tensor_or_array("y_true", y_true) if known is None else known.labels(y_true)
        vectors = len(y_true.shape) == len(y_pred.shape) and y_true.shape[-1] not in (None, 1)
        if found is not None and vectors:
            check_class_weight()
        kind, sure = self._kind(found, y_pred)
        sample_weight = masked_weights(sample_weight, y_pred)
        y_pred = at_least_float32(y_pred)
        if not sure:
            y_pred = self._nan_if_other_kind(y_pred, kind)
        values = (self if known is None else known).decision_costs(y_pred, kind)
        # argmin takes NaN for the smallest value on some backends and not on others.
        unknown = ops.any(ops.isnan(values), axis=-1)
        chosen = ops.one_hot(ops.argmin(values, axis=-1), values.shape[-1], dtype=values.dtype)
        score = ops.where(unknown, float("nan"), self.score(y_true, chosen, known))
        if vectors and y_true.shape[-1] > 2 and not (self.binary_costs or self._costs_seen):
            counts = one_hot_counts(ops.convert_to_tensor(y_true), sample_weight)
            self._one_hot_counts.assign_add(counts)
            count = known_values(counts)  # Where they are known, one other row is enough.
            self._costs_seen = count is not None and count[0] > 0
        if len(score.shape) > 1:  # Otherwise each example would count the same, of any size.
            score = ops.reshape(score, (-1,))
            if sample_weight is not None:
                sample_weight = ops.reshape(sample_weight, (-1,))
        super().update_state(score, sample_weight=sample_weight)
        self._updates += 2 if whole else 1

    def result(self) -> Tensor:
        """Returns the average; raises if all cost vectors since `reset_state` were one-hot."""
        self._check_one_hot()
        return super().result()

    def _check_one_hot(self) -> None:
        """Raises if an epoch has ended in which all cost vectors were one-hot."""
        updates, self._updates = self._updates, 0
        # Keras asks for a result after each batch, and once more after the last.
        counts = None if updates == 1 else known_values(ops.convert_to_tensor(self._one_hot_counts))
        if counts is not None:
            check_not_one_hot(f"the targets of {self.name!r}", counts)

    def reset_state(self) -> None:
        """Forgets all batches, and the kind of output that was found in them."""
        super().reset_state()
        self._one_hot_counts.assign(ops.zeros((4,), self.dtype))
        self._seen_as, self._costs_seen, self._updates = None, False, 0

    def wanted_kind(self) -> str | None:
        """Returns the kind of output that the arguments ask for, or `None`."""
        return self.output

    def _kind(self, found: FitOutput | None, y_pred: Tensor) -> tuple[str, bool]:
        """Returns the kind of `y_pred`, and whether it is certain without checking its values.

        Raises:
            ValueError: if the model, or values that are known, show another kind than the
                arguments ask for.
        """
        wanted = self.wanted_kind()
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
        if wanted is None and y_pred.shape[-1] == 1:
            raise ValueError(
                f"Expected outputs of at least two decisions for {self.name!r}; received one "
                "column. Pass output='probability' if it is the probability of class 1."
            )
        if found is not None and found.kind == "other" and kind == "cost":
            return kind, True
        if (
            found is not None
            and found.kind == "distribution"
            and not self._allows_distributions(y_pred)
        ):
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
            return kind, kind == "cost" and self._allows_distributions(y_pred)
        check_values(values, wanted)
        if not is_array:
            self._seen_as = kind
        return kind, True

    def _allows_distributions(self, y_pred: Tensor) -> bool:
        """Tells whether the arguments allow for rows that sum to 1, see `check_values`."""
        wanted = self.wanted_kind()
        return wanted == "probability" or (wanted == "cost" and y_pred.shape[-1] <= 2)

    def _received(self) -> str:
        return f"output={self.output!r}"

    def _nan_if_other_kind(self, y_pred: Tensor, kind: str) -> Tensor:
        """Puts NaN for outputs of another kind, inside a graph, where nothing can raise."""
        if kind == "probability":
            return distributions(y_pred)
        nan = ops.cast(np.nan, y_pred.dtype)
        return ops.where(ops.all(probability_rows(y_pred)), nan, y_pred)

    def decision_costs(self, y_pred: Tensor, kind: str) -> Tensor:
        """Returns `(batch, ..., D)` values whose argmin is the decision.

        Args:
            y_pred: `(batch, ..., D)` outputs.
            kind: their kind, `"cost"` or `"probability"`.
        """
        return y_pred if kind == "cost" else -two_columns(y_pred)

    def score(self, y_true: Tensor, chosen: Tensor, costs: BatchCosts | None = None) -> Tensor:
        """Computes the score of each example's decision, `(batch, ...)`.

        Args:
            y_true: targets.
            chosen: `(batch, ..., D)`, 1 for the decision and 0 elsewhere.
            costs: costs of the batch's examples, or `None` if `update_state` was given none.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement `score`.")

    def get_config(self) -> dict[str, Any]:
        config = {"output": self.output, "binary_costs": self.binary_costs}
        return {**super().get_config(), **config}
