"""Scores the decisions of a model: their costs, and whether they are right."""

from typing import Any

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.checks import check_bool, check_choice, check_integer
from csdl_keras._utils.tensors import (
    at_least_float32,
    check_numbered,
    check_weights,
    default_name,
    examples_shape,
    float_dtype,
    known_values,
    same_shape,
    tensor_or_array,
)
from csdl_keras._utils.types import ArrayLike, DTypeLike, Tensor
from csdl_keras.costs._tensors import (
    check_present,
    class_index,
    distributions,
    from_config,
    known_rows,
    labels_of_shape,
    matrices_of_batch,
    rows_of,
    tensor_or_labels,
    to_config,
)
from csdl_keras.costs.checks import TOLERANCE, check_not_one_hot, one_hot_counts, probability_rows
from csdl_keras.costs.known import CostsLike


class _RowWeights(keras.losses.Loss):
    """Weights of rows, 0 where masked; on JAX, only losses can read the masks of tensors."""

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return ops.ones_like(y_pred[..., 0])


class DecisionMetric(keras.metrics.Mean):
    """Base class of metrics of each example's decision; arguments are those of `AverageCost`."""

    #: Whether probabilities decide by the lowest expected cost under a cost matrix.
    bayes = False
    _rows: Tensor = None

    def __init__(
        self,
        output: str | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        binary_costs: bool = False,
    ):
        super().__init__(name=name or default_name(self), dtype=dtype or float_dtype())
        if output is not None:
            check_choice("output", output, ("cost", "probability", "logits"))
        self.output = self.kind = output
        self.binary_costs = check_bool("binary_costs", binary_costs)
        # `one_hot_counts` of targets, then counts of outputs that are distributions or not.
        self._seen = self.add_variable((6,), "zeros", name="seen")
        self._updates = 0

    def update_state(
        self,
        y_true: Tensor,
        y_pred: Tensor,
        sample_weight: Tensor | None = None,
        costs: CostsLike | Tensor | None = None,
    ) -> None:
        """Adds a batch.

        Args:
            y_true: cost vectors, or integer labels, which `costs` needs.
            y_pred: `(batch, ..., D)` outputs of the model. Rows that Keras masks do not count.
            sample_weight: `None`, or weights `(batch,)` or `(batch, ...)`.
            costs: `None` (default), or costs that are known when deciding: `(batch, K, D)`,
                `C[n, true, decision]`, `(K, D)`, or `csdl_keras.costs.AffineCosts`.
        """
        y_pred = tensor_or_array("y_pred", y_pred)
        shape = examples_shape("y_pred", y_pred)
        known = None if costs is None else matrices_of_batch(costs, y_pred)
        if known is None:
            y_true = ops.convert_to_tensor(self.targets(y_true, shape))
            vectors = self.vectors(y_true, y_pred)
        else:
            y_true = ops.convert_to_tensor(tensor_or_labels(y_true, known.shape[1], shape))
            vectors = known_rows(known, y_true)
        values = self._values(y_pred, known)
        # On some backends only, argmin treats NaN as the smallest value.
        unknown = ops.any(ops.isnan(values), axis=-1)
        chosen = ops.one_hot(ops.argmin(values, axis=-1), values.shape[-1], dtype=values.dtype)
        if vectors is not None:
            hint = "For integer labels, give the metric a `cost_matrix` of as many columns."
            vectors, _ = same_shape("(batch, ..., D)", hint, costs=vectors, outputs=chosen)
        score = ops.where(unknown, float("nan"), self.score(y_true, chosen, vectors))
        weights = check_weights(sample_weight, y_pred, len(shape))
        if len(shape) > 1:
            weights = _RowWeights(reduction=None)(y_pred, y_pred, weights)
        if weights is not None:
            weights = ops.reshape(ops.cast(weights, self.dtype), ops.shape(score))
        weights = self.weights(y_true, weights)
        is_costs = len(y_true.shape) == len(y_pred.shape) and (y_true.shape[-1] or 0) > 2
        marks = ops.zeros((4,), self.dtype)
        if is_costs and not self.binary_costs:
            marks = ops.cast(one_hot_counts(y_true, weights), self.dtype)
        seen = self._outputs_seen(y_pred, vectors, weights)
        whole = isinstance(y_pred, np.ndarray)  # A model's outputs are those of a batch.
        if whole:
            self._check_outputs(known_values(seen))
        self._seen.assign_add(ops.concatenate([marks, seen]))
        self._updates += 2 if whole else 1
        # Otherwise each example would have the same weight, whatever its size.
        flat = None if weights is None else ops.reshape(weights, (-1,))
        self.accumulate(ops.reshape(score, (-1,)), vectors, flat)

    def accumulate(self, score: Tensor, vectors: Tensor | None, weights: Tensor | None) -> None:
        """Adds scores `(N,)` of decisions, with the cost vectors of the examples."""
        super().update_state(score, sample_weight=weights)

    def _values(self, y_pred: Tensor, known: Tensor | None) -> Tensor:
        """Returns `(batch, ..., D)` values whose argmin is the decision."""
        outputs = at_least_float32(y_pred)
        if self.kind is None and y_pred.shape[-1] == 1:
            raise ValueError(
                f"{self.name!r} received outputs of one column. Pass output='probability' if it is "
                "the probability of class 1."
            )
        if self.kind == "logits":
            outputs = ops.sigmoid(outputs) if outputs.shape[-1] == 1 else ops.softmax(outputs)
        if self.kind in (None, "cost"):
            return outputs
        outputs = distributions(outputs)
        if known is not None:
            return ops.matmul(outputs[:, None], known)[:, 0]
        return ops.matmul(outputs, self._rows[:-1]) if self.bayes else -outputs

    def _outputs_seen(self, y_pred: Tensor, vectors: Tensor, weights: Tensor) -> Tensor:
        """Counts outputs of weight above 0 that are distributions and that are not, `(2,)`."""
        one = y_pred.shape[-1] == 1 and self.kind != "probability"  # They may lie in [0, 1].
        if one or (self.kind == "cost" and vectors is None):
            return ops.zeros((2,), self.dtype)
        if self.kind == "cost":  # If costs sum to 1, so may their estimates.
            sums = ops.cast(ops.abs(ops.sum(vectors, axis=-1) - 1.0) > TOLERANCE, self.dtype)
            weights = sums if weights is None else sums * weights
        outputs = ops.convert_to_tensor(y_pred)
        proper = probability_rows(outputs, loose=self.kind == "probability")
        counted = ops.logical_not(ops.any(ops.isnan(outputs), axis=-1))
        if weights is not None:
            counted = ops.logical_and(counted, weights > 0)
        kinds = [ops.logical_and(kind, counted) for kind in (proper, ops.logical_not(proper))]
        return ops.stack([ops.sum(ops.cast(kind, self.dtype)) for kind in kinds])

    def _are_others(self, seen: Any) -> Any:
        """Returns by `_outputs_seen` whether outputs are of the wrong kind."""
        proper, other = seen[0], seen[1]
        if self.kind == "probability":
            return other > 0
        return (other == 0) & (proper > (0 if self.kind is None else 1))

    def _check_outputs(self, seen: np.ndarray | None) -> None:
        """Raises if the outputs are known to be of the wrong kind."""
        if seen is None or not self._are_others(seen):
            return
        if self.kind == "probability":
            raise ValueError(
                f"{self.name!r} received {seen[1]:.0f} rows that are not probabilities, since they "
                "do not sum to 1. Pass output='cost' for costs, output='logits' for logits."
            )
        what = "logits" if self.kind == "logits" else "costs"
        hint = ", or output='cost' if they are costs" if self.kind is None else ""
        raise ValueError(
            f"{self.name!r} received rows that sum to 1, which are probabilities, instead of "
            f"{what}. Pass output='probability'{hint}."
        )

    def result(self) -> Tensor:
        """Returns the average; raises if outputs or targets are of the wrong kind."""
        updates, self._updates = self._updates, 0
        seen = ops.convert_to_tensor(self._seen)
        # Keras asks for a result after each batch, and once more after the last.
        known = None if updates == 1 else known_values(seen)
        if known is not None:
            check_not_one_hot(f"the targets of {self.name!r}", known[:4])
            self._check_outputs(known[4:])
        return ops.where(self._are_others(seen[4:]), float("nan"), self.average())

    def average(self) -> Tensor:
        """Returns the result of the scores that were added."""
        return super().result()

    def reset_state(self) -> None:
        """Discards all batches."""
        super(keras.metrics.Mean, self).reset_state()  # This resets all variables, not only Mean's.
        self._updates = 0

    def targets(self, y_true: Tensor, shape: tuple[int | None, ...]) -> Tensor:
        """Returns targets as a checked array, or a tensor, for outputs `(*shape, D)`."""
        raise NotImplementedError

    def vectors(self, y_true: Tensor, y_pred: Tensor) -> Tensor | None:
        """Returns the cost vector of each example, or `None` if targets are only labels."""
        return y_true if len(y_true.shape) == len(y_pred.shape) else None

    def weights(self, y_true: Tensor, sample_weight: Tensor | None) -> Tensor | None:
        """Returns the weight of each example, `None` if all are 1."""
        return sample_weight

    def score(self, y_true: Tensor, chosen: Tensor, vectors: Tensor | None) -> Tensor:
        """Computes scores `(batch, ...)`; `chosen` is 1 for the decision and 0 elsewhere."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "output": self.output, "binary_costs": self.binary_costs}


@keras.saving.register_keras_serializable(package="csdl_keras")
class AverageCost(DecisionMetric):
    """Computes the average cost of a model's decisions.

    `sum_n w_n c_n[g(x_n)] / sum_n w_n`, where the decision `g` is the argmin of estimated costs,
    the argmax of probabilities or logits, or with `bayes=True` their decision of lowest expected
    cost. Monitor it as `"val_average_cost"`, with `mode="min"`.

    In your own loop, pass costs `C[n, true, decision]` that are known when deciding as
    `metric.update_state(labels, outputs, costs=costs)`; probabilities then decide by the lowest
    expected cost. In `fit`, a model with costs as an input has `cost_vectors` as targets.

    Args:
        cost_matrix: `None` (default) if `y_true` is cost vectors `(batch, ..., D)`;
            `(K, D)`, `C[true, decision]`, if it is integer labels, `(batch, ...)`
            or `(batch, ..., 1)`. For labels outside `[0, K)` and large matrices, see `SOSRLoss`.
        output: kind of `y_pred`, `"cost"`, `"probability"` or `"logits"`. `None` (default) means
            costs, or probabilities with `bayes=True`. Values of the wrong kind raise at the end
            of the epoch; inside a function that you compile yourself the result is NaN.
        bayes: whether probabilities decide by the lowest expected cost `sum_y P(y|x) C[y, k]`
            instead of their argmax; needs `cost_matrix`. Defaults to False.
        class_id: `None` (default), or the only true class whose examples count, with
            a result of 0 if there are none; needs `cost_matrix`.
        name, dtype: as in `keras.metrics.Metric`; the dtype is at least float32 by default.
        binary_costs: whether all cost vectors may be one-hot, if only one decision costs 1. By
            default the end of an epoch of such rows raises, since they are probably labels.

    Example:

    >>> import numpy as np
    >>> metric = AverageCost(cost_matrix=[[0.0, 1.0], [9.0, 0.0]])
    >>> metric.update_state(np.array([0, 1]), np.array([[0.1, 0.7], [0.2, 0.3]]))
    >>> float(metric.result())
    4.5
    """

    def __init__(
        self,
        cost_matrix: ArrayLike | None = None,
        output: str | None = None,
        bayes: bool = False,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        binary_costs: bool = False,
    ):
        super().__init__(output=output, name=name, dtype=dtype, binary_costs=binary_costs)
        self.cost_matrix, self._rows = from_config(cost_matrix, self.dtype)
        self.bayes, self.class_id = check_bool("bayes", bayes), class_id
        if bayes:
            self.kind = output or "probability"
        if bayes and (cost_matrix is None or output == "cost"):
            raise ValueError(
                "bayes=True needs a `cost_matrix` and outputs that are probabilities; received "
                f"output={output!r} and {'no' if cost_matrix is None else 'a'} matrix."
            )
        if class_id is not None:
            classes = 0 if self.cost_matrix is None else len(self.cost_matrix)
            check_integer("class_id", class_id, low=0, high=classes - 1)

    def targets(self, y_true: Tensor, shape: tuple[int | None, ...]) -> Tensor:
        check_present(self, self._rows)
        if self.cost_matrix is None:
            return tensor_or_array("y_true", y_true)
        return tensor_or_labels(y_true, len(self.cost_matrix), shape)

    def vectors(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return y_true if self.cost_matrix is None else rows_of(self._rows, y_true)

    def weights(self, y_true: Tensor, sample_weight: Tensor | None) -> Tensor | None:
        if self.class_id is None or self.cost_matrix is None:
            return sample_weight
        index, known = class_index(y_true, len(self.cost_matrix))
        chosen = ops.cast(ops.logical_and(known, index == self.class_id), self.dtype)
        return chosen if sample_weight is None else chosen * sample_weight

    def score(self, y_true: Tensor, chosen: Tensor, vectors: Tensor | None) -> Tensor:
        counted = ops.logical_or(chosen > 0, ops.isnan(vectors))
        return ops.sum(ops.where(counted, vectors, 0.0), axis=-1)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "cost_matrix": to_config(self.cost_matrix),
            "bayes": self.bayes,
            "class_id": self.class_id,
        }


@keras.saving.register_keras_serializable(package="csdl_keras")
class NormalizedCost(AverageCost):
    """Computes the cost of a model's decisions relative to the best constant decision's.

    `sum_n w_n c_n[g(x_n)] / min_k sum_n w_n c_n[k]`: 0 for a perfect model, 1 for a model no better
    than the same decision for all examples; not finite if a constant decision costs nothing.

    Args:
        cost_matrix: as in `AverageCost`.
        num_decisions: number `D` of decisions, needed without a cost matrix.
        **kwargs: `output`, `bayes`, `name`, `dtype` and `binary_costs`, as in `AverageCost`.

    Example:

    >>> import numpy as np
    >>> metric = NormalizedCost(cost_matrix=[[0.0, 1.0], [9.0, 0.0]])
    >>> metric.update_state(np.array([0, 1, 0]), np.array([[0.7, 0.1], [0.9, 0.3], [0.1, 0.7]]))
    >>> float(metric.result())
    0.5
    """

    def __init__(
        self, cost_matrix: ArrayLike | None = None, num_decisions: int | None = None, **kwargs: Any
    ):
        super().__init__(cost_matrix, **kwargs)
        if self.cost_matrix is not None:
            num_decisions = self.cost_matrix.shape[1]
        elif num_decisions is None:
            raise ValueError("Pass a `cost_matrix` or `num_decisions`.")
        self.num_decisions = check_integer("num_decisions", num_decisions)
        self.constant = self.add_variable((self.num_decisions,), "zeros", name="constant")

    def score(self, y_true: Tensor, chosen: Tensor, vectors: Tensor) -> Tensor:
        if vectors.shape[-1] != self.num_decisions:
            raise ValueError(
                f"{self.name!r} expects costs of {self.num_decisions} decisions; received "
                f"{vectors.shape[-1]}."
            )
        return super().score(y_true, chosen, vectors)

    def accumulate(self, score: Tensor, vectors: Tensor, weights: Tensor | None) -> None:
        super().accumulate(score, vectors, weights)
        vectors = ops.reshape(ops.cast(vectors, self.dtype), (-1, self.num_decisions))
        if weights is not None:
            vectors = vectors * ops.cast(weights, self.dtype)[:, None]
        self.constant.assign_add(ops.sum(vectors, axis=0))

    def average(self) -> Tensor:
        return ops.divide(self.total, ops.min(ops.convert_to_tensor(self.constant)))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "num_decisions": self.num_decisions}


@keras.saving.register_keras_serializable(package="csdl_keras")
class Savings(NormalizedCost):
    """Computes the share of the best constant decision's cost that a model saves.

    `1 - NormalizedCost`, with the same arguments: 1 for a perfect model, 0 for a model no better
    than the same decision for all examples. Monitor it with `mode="max"`.

    References:
        - [Bahnsen, Aouada, Ottersten: Example-dependent cost-sensitive decision trees, Expert
          Systems with Applications 2015](https://doi.org/10.1016/j.eswa.2015.04.042)

    Example:

    >>> import numpy as np
    >>> metric = Savings(cost_matrix=[[0.0, 1.0], [9.0, 0.0]])
    >>> metric.update_state(np.array([0, 1, 0]), np.array([[0.7, 0.1], [0.9, 0.3], [0.1, 0.7]]))
    >>> float(metric.result())
    0.5
    """

    def average(self) -> Tensor:
        return ops.subtract(1.0, super().average())


@keras.saving.register_keras_serializable(package="csdl_keras")
class DecisionAccuracy(DecisionMetric):
    """Computes the share of decisions that are right.

    With integer labels, `(batch, ...)` or `(batch, ..., 1)`, a decision is right if it is the
    label; with cost vectors, `(batch, ..., D)`, if no other decision costs less. Keras' accuracy
    would use the argmax of estimated costs. The result is NaN if labels are not classes or costs
    are NaN. Arguments are `output`, `name`, `dtype` and `binary_costs` of `AverageCost`.

    Example:

    >>> import numpy as np
    >>> metric = DecisionAccuracy()
    >>> metric.update_state(np.array([0, 1]), np.array([[0.1, 0.7], [0.2, 0.3]]))
    >>> float(metric.result())
    0.5
    """

    def targets(self, y_true: Tensor, shape: tuple[int | None, ...]) -> Tensor:
        y_true = tensor_or_array("y_true", y_true)
        of_costs = len(y_true.shape) == len(shape) + 1 and y_true.shape[-1] != 1
        return y_true if of_costs else labels_of_shape(y_true, shape)

    def score(self, y_true: Tensor, chosen: Tensor, vectors: Tensor | None) -> Tensor:
        if len(y_true.shape) == len(chosen.shape):
            right = vectors <= ops.min(vectors, axis=-1, keepdims=True)
        else:
            dtype = keras.backend.standardize_dtype(y_true.dtype)
            check_numbered("decisions", chosen.shape[-1], dtype)
            index = ops.arange(chosen.shape[-1], dtype=chosen.dtype)
            right = ops.cast(y_true, chosen.dtype)[..., None] == index
        unknown = ops.logical_not(ops.any(right, axis=-1))
        if vectors is not None:  # They are NaN for a label that is not a class.
            unknown = ops.any(ops.isnan(vectors), axis=-1)
        return ops.where(unknown, float("nan"), ops.sum(ops.where(right, chosen, 0.0), axis=-1))
