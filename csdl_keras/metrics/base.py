"""The base class of metrics that score decisions."""

from typing import Any

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.checks import check_bool, check_choice
from csdl_keras._utils.tensors import (
    TOLERANCE,
    at_least_float32,
    check_wide,
    default_name,
    distribution_counts,
    distributions,
    examples_shape,
    float_dtype,
    known_values,
    masked_weights,
    one_hot_counts,
    same_shape,
    tensor_or_array,
    two_columns,
)
from csdl_keras._utils.types import DTypeLike, Tensor
from csdl_keras.costs._batch_costs import BatchCosts, BatchCostsLike
from csdl_keras.costs.checks import check_not_one_hot


class DecisionMetric(keras.metrics.Mean):
    """Base class of metrics that average a score of each example's decision.

    Outputs with axes between, such as `(batch, height, width, D)` with a decision for each pixel,
    count as that many examples; those that Keras masks do not count. The decision is the argmin of
    costs or the argmax of probabilities, the lowest index among equals. Outputs whose values show
    that they are not what `output` says raise, in `fit` and `evaluate` at the end of the epoch;
    inside a function that you compile yourself the result is NaN. A subclass implements `targets`
    and `score`. The arguments are described in `AverageCost`.
    """

    #: What to do where cost vectors and outputs differ in shape.
    hint = "Pass integer labels or cost vectors as `y_true`."

    def __init__(
        self,
        output: str | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        binary_costs: bool = False,
    ):
        super().__init__(name=name or default_name(self), dtype=dtype or float_dtype())
        check_wide(self.dtype)
        if output is not None:
            check_choice("output", output, ("cost", "probability", "logits"))
        self.output = output
        self.binary_costs = check_bool("binary_costs", binary_costs)
        # Those of `one_hot_counts` of targets, and of `distribution_counts` of outputs.
        self._seen = self.add_variable((7,), "zeros", name="seen")
        self._updates = 0

    def update_state(
        self,
        y_true: Tensor,
        y_pred: Tensor,
        sample_weight: Tensor | None = None,
        costs: BatchCostsLike | None = None,
    ) -> None:
        """Adds a batch.

        Args:
            y_true: cost vectors, or integer labels, which `costs` needs.
            y_pred: `(batch, ..., D)` outputs of the model.
            sample_weight: `None`, or weights `(batch,)` or `(batch, ...)`.
            costs: `None` (default), or costs of the batch's examples that are known when deciding:
                `(batch, K, D)`, `C[n, true, decision]`, `(K, D)`, or
                `csdl_keras.costs.AffineCosts`.
        """
        y_pred = tensor_or_array("y_pred", y_pred)
        shape = examples_shape("y_pred", y_pred)
        whole = isinstance(y_pred, np.ndarray)  # A model's outputs are those of a batch.
        if whole:
            self._check_outputs(known_values(self._outputs_seen(y_pred, None, None)))
        known = None
        if costs is None:
            y_true = self.targets(y_true, shape)
        else:
            known = BatchCosts(costs, tuple(tensor_or_array("y_true", y_true).shape)[0])
            y_true = known.labels(y_true)
        values = self._values(y_pred, known)
        # argmin takes NaN for the smallest value on some backends and not on others.
        unknown = ops.any(ops.isnan(values), axis=-1)
        chosen = ops.one_hot(ops.argmin(values, axis=-1), values.shape[-1], dtype=values.dtype)
        vectors = self.vectors(y_true, y_pred) if known is None else known.of_labels(y_true)
        if vectors is not None:
            vectors, _ = same_shape("(batch, ..., D)", self.hint, costs=vectors, outputs=chosen)
        score = ops.where(unknown, float("nan"), self.score(y_true, chosen, vectors))
        weights = masked_weights(sample_weight, y_pred)
        if weights is not None:
            weights = ops.reshape(ops.cast(weights, self.dtype), ops.shape(score))
        weights = self.weights(y_true, weights)
        is_costs = len(y_true.shape) == len(y_pred.shape) and (y_true.shape[-1] or 0) > 2
        seen = [ops.zeros((4,), self.dtype), self._outputs_seen(y_pred, vectors, weights)]
        if is_costs and not self.binary_costs:
            seen[0] = ops.cast(one_hot_counts(ops.convert_to_tensor(y_true), weights), self.dtype)
        if whole:
            self._check_outputs(known_values(seen[1]))
        self._seen.assign_add(ops.concatenate(seen))
        self._updates += 2 if whole else 1
        # Otherwise each example would count the same, of any size.
        flat = None if weights is None else ops.reshape(weights, (-1,))
        self.accumulate(ops.reshape(score, (-1,)), vectors, flat)

    def accumulate(self, score: Tensor, vectors: Tensor | None, weights: Tensor | None) -> None:
        """Adds scores `(N,)` of decisions, with the cost vectors of the examples."""
        super().update_state(score, sample_weight=weights)

    def _values(self, y_pred: Tensor, known: BatchCosts | None) -> Tensor:
        """Returns `(batch, ..., D)` values whose argmin is the decision."""
        kind, outputs = self.wanted_kind(), at_least_float32(y_pred)
        if kind is None and y_pred.shape[-1] == 1:
            raise ValueError(
                f"Expected outputs of at least two decisions for {self.name!r}; received one "
                "column. Pass output='probability' if it is the probability of class 1."
            )
        if kind == "logits":
            outputs = ops.sigmoid(outputs) if outputs.shape[-1] == 1 else ops.softmax(outputs)
        if kind in ("probability", "logits"):
            kind, outputs = "probability", distributions(outputs)
        if known is not None:
            return known.decision_costs(outputs, kind or "cost")
        return self.decision_costs(outputs, kind or "cost")

    def wanted_kind(self) -> str | None:
        """Returns the kind of output that the arguments ask for, or `None`."""
        return self.output

    def _outputs_seen(self, y_pred: Tensor, vectors: Tensor, weights: Tensor) -> Tensor:
        """Counts outputs that tell what they are: by `distribution_counts`, of weight above 0."""
        kind = self.wanted_kind()
        if kind in (None, "logits") and y_pred.shape[-1] == 1:  # They may lie in [0, 1].
            return ops.zeros((3,), self.dtype)
        if kind == "cost":  # Estimates of costs that sum to 1 may do so as well.
            if vectors is None:
                return ops.zeros((3,), self.dtype)
            sums = ops.abs(ops.sum(vectors, axis=-1) - 1.0) > TOLERANCE
            told = ops.cast(sums, self.dtype)
            weights = told if weights is None else told * weights
        counts = distribution_counts(ops.convert_to_tensor(y_pred), weights)
        return ops.cast(counts, self.dtype)

    def _are_others(self, seen: Any) -> Any:
        """Tells by `distribution_counts` whether outputs are of another kind than wanted."""
        proper, other, improper = seen[0], seen[1], seen[2]
        kind = self.wanted_kind()
        if kind == "probability":
            return improper > 0
        return (other == 0) & (proper > (0 if kind is None else 1))

    def _check_outputs(self, seen: np.ndarray | None) -> None:
        """Raises if the outputs are known to be of another kind than `output` says."""
        if seen is None or not self._are_others(seen):
            return
        kind = self.wanted_kind()
        if kind == "probability":
            raise ValueError(
                "Expected probabilities, rows of numbers in [0, 1] that sum to 1 (or one column "
                f"of them), for {self.name!r}; received {seen[2]:.0f} rows that are not. Costs are "
                "output='cost', logits output='logits'."
            )
        what = "costs, which decide by argmin," if kind != "logits" else "logits"
        hint = ", or output='cost' if they are costs" if kind is None else ""
        raise ValueError(
            f"Expected {what} for {self.name!r}; received rows that sum to 1, which are "
            f"probabilities. Pass output='probability'{hint}."
        )

    def result(self) -> Tensor:
        """Returns the average; raises if what was added since `reset_state` is of another kind."""
        return self.judged(super().result())

    def judged(self, value: Tensor) -> Tensor:
        """Returns a result, NaN where targets or outputs are of another kind, or raises."""
        updates, self._updates = self._updates, 0
        seen = ops.convert_to_tensor(self._seen)
        # Keras asks for a result after each batch, and once more after the last.
        known = None if updates == 1 else known_values(seen)
        if known is not None:
            check_not_one_hot(f"the targets of {self.name!r}", known[:4])
            self._check_outputs(known[4:])
        return ops.where(self._are_others(seen[4:]), float("nan"), value)

    def reset_state(self) -> None:
        """Forgets all batches."""
        super().reset_state()
        self._seen.assign(ops.zeros((7,), self.dtype))
        self._updates = 0

    def decision_costs(self, y_pred: Tensor, kind: str) -> Tensor:
        """Returns `(batch, ..., D)` values whose argmin is the decision.

        Args:
            y_pred: `(batch, ..., D)` outputs.
            kind: their kind, `"cost"` or `"probability"`.
        """
        return y_pred if kind == "cost" else -two_columns(y_pred)

    def targets(self, y_true: Tensor, shape: tuple[int | None, ...]) -> Tensor:
        """Returns targets as a checked array, or a tensor, for outputs `(*shape, D)`."""
        raise NotImplementedError(f"{type(self).__name__} must implement `targets`.")

    def vectors(self, y_true: Tensor, y_pred: Tensor) -> Tensor | None:
        """Returns the cost vector of each example, or `None` if targets are labels alone."""
        return None

    def weights(self, y_true: Tensor, sample_weight: Tensor | None) -> Tensor | None:
        """Returns the weight of each example, `None` if all are 1."""
        return sample_weight

    def score(self, y_true: Tensor, chosen: Tensor, vectors: Tensor | None) -> Tensor:
        """Computes the score of each example's decision, `(batch, ...)`.

        Args:
            y_true: targets.
            chosen: `(batch, ..., D)`, 1 for the decision and 0 elsewhere.
            vectors: `(batch, ..., D)` cost vectors, or `None`.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement `score`.")

    def get_config(self) -> dict[str, Any]:
        config = {"output": self.output, "binary_costs": self.binary_costs}
        return {**super().get_config(), **config}
