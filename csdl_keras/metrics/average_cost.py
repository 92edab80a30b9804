"""What a model's decisions cost: on average, and relative to the best constant decision."""

from typing import Any

import keras
from keras import ops

from csdl_keras._utils.checks import LARGEST_SIZE, check_bool, check_integer
from csdl_keras._utils.tensors import in_words, tensor_or_array
from csdl_keras._utils.types import ArrayLike, DTypeLike, Tensor
from csdl_keras.costs._tensors import (
    check_present,
    class_index,
    from_config,
    labels_of_shape,
    rows_of,
    tensor_or_labels,
    to_config,
)
from csdl_keras.metrics.base import DecisionMetric


@keras.saving.register_keras_serializable(package="csdl_keras")
class AverageCost(DecisionMetric):
    """Computes the average cost of a model's decisions.

    `sum_n w_n c_n[g(x_n)] / sum_n w_n`, where the decision `g` is the argmin of estimated costs,
    the argmax of probabilities or logits, or with `bayes=True` the decision of lowest expected cost
    on them. Monitor it as `"val_average_cost"`, with `mode="min"`.

    Costs that are known when deciding, `C[n, true, decision]` of each example, enter a loop of your
    own as `metric.update_state(labels, outputs, costs=costs)`: probabilities decide by the lowest
    expected cost, and the decision costs `C[n, y_n, d_n]`. In `fit` and `evaluate`, a model that
    takes the costs as an input is scored on `csdl_keras.costs.cost_vectors` as `y_true`.

    Args:
        cost_matrix: `None` (default) if `y_true` holds cost vectors `(batch, ..., D)`;
            `(K, D)`, `C[true, decision]`, if it holds integer labels, `(batch, ...)`
            or `(batch, ..., 1)`. Labels outside `[0, K)`, and larger matrices, as in `SOSRLoss`.
        output: kind of `y_pred`, `"cost"`, `"probability"` or `"logits"`. `None` (default) means
            costs, or probabilities with `bayes=True`. Values of another kind raise at the end
            of the epoch: rows that all sum to 1 are not costs, and others are not
            probabilities.
        bayes: whether probabilities decide by the lowest expected cost `sum_y P(y|x) C[y, k]`
            instead of their argmax; needs `cost_matrix`. Defaults to False.
        class_id: `None` (default), or the only true class whose examples count, with
            a result of 0 if there are none; needs `cost_matrix`.
        name: name of the metric.
        dtype: dtype of the result; `None` (default) is at least float32.
        binary_costs: whether cost vectors may be one-hot, as those are of which a single decision
            costs 1. Defaults to False: `result` raises at the end of an epoch of one-hot rows
            alone, which are labels of three classes or more.

    Example:

    >>> import numpy as np
    >>> metric = AverageCost(cost_matrix=[[0.0, 1.0], [9.0, 0.0]])
    >>> metric.update_state(np.array([0, 1]), np.array([[0.1, 0.7], [0.2, 0.3]]))
    >>> float(metric.result())
    4.5
    >>> metric = AverageCost(output="probability")
    >>> costs = np.array([[[0.0, 5.0], [10.0, 5.0]], [[0.0, 5.0], [90.0, 5.0]]])
    >>> probabilities = np.array([[0.75, 0.25], [0.75, 0.25]])
    >>> metric.update_state(np.array([1, 1]), probabilities, costs=costs)
    >>> float(metric.result())
    7.5
    """

    hint = "For integer labels, give the metric a `cost_matrix`."

    def __init__(
        self,
        cost_matrix: ArrayLike | None = None,
        output: str | None = None,
        bayes: bool = False,
        class_id: int | None = None,
        name: str | None = "average_cost",
        dtype: DTypeLike | None = None,
        binary_costs: bool = False,
    ):
        super().__init__(output=output, name=name, dtype=dtype, binary_costs=binary_costs)
        self.cost_matrix = None
        self._rows: Tensor = None
        if cost_matrix is not None:
            self.cost_matrix, self._rows = from_config(cost_matrix, self.dtype)
            self.hint = "`cost_matrix` needs as many columns as the model has outputs."
        self.bayes = check_bool("bayes", bayes)
        if bayes and (cost_matrix is None or output == "cost"):
            raise ValueError(
                "Expected a `cost_matrix` and outputs that are probabilities with bayes=True; "
                f"received output={output!r} and {'no' if cost_matrix is None else 'a'} matrix."
            )
        if class_id is not None:
            if self.cost_matrix is None:
                raise ValueError("Expected a `cost_matrix` with `class_id`; received none.")
            check_integer("class_id", class_id, low=0, high=len(self.cost_matrix) - 1)
        self.class_id = class_id

    def targets(self, y_true: Tensor, shape: tuple[int | None, ...]) -> Tensor:
        check_present(self, self._rows)
        if self.cost_matrix is None:
            return tensor_or_array("y_true", y_true)
        return labels_of_shape(tensor_or_labels(y_true, len(self.cost_matrix), shape), shape)

    def vectors(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        y_true = ops.convert_to_tensor(y_true)
        return y_true if self.cost_matrix is None else rows_of(self._rows, y_true, y_pred)

    def weights(self, y_true: Tensor, sample_weight: Tensor | None) -> Tensor | None:
        if self.class_id is None:
            return sample_weight
        assert self.cost_matrix is not None  # as `class_id` needs it
        index, known = class_index(ops.convert_to_tensor(y_true), len(self.cost_matrix))
        chosen = ops.cast(ops.logical_and(known, index == self.class_id), self.dtype)
        return chosen if sample_weight is None else chosen * sample_weight

    def wanted_kind(self) -> str | None:
        return "probability" if self.bayes and self.output is None else self.output

    def decision_costs(self, y_pred: Tensor, kind: str) -> Tensor:
        if not self.bayes:
            return super().decision_costs(y_pred, kind)
        classes = self._rows.shape[0] - 1
        if y_pred.shape[-1] != classes:
            raise ValueError(
                f"Expected {classes} probabilities, one for each row of `cost_matrix`; "
                f"received {y_pred.shape[-1]}."
            )
        return ops.matmul(y_pred, self._rows[:-1])

    def score(self, y_true: Tensor, chosen: Tensor, vectors: Tensor | None) -> Tensor:
        return ops.sum(ops.where(chosen > 0, vectors, 0.0), axis=-1) + ops.sum(
            ops.where(ops.isnan(vectors), vectors, 0.0), axis=-1
        )

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

    `sum_n w_n c_n[g(x_n)] / min_k sum_n w_n c_n[k]`: 0 for a perfect model, 1 for one no better
    than the same decision for all examples. It is infinite or NaN where a constant decision costs
    nothing.

    Args:
        cost_matrix, output, bayes, name, dtype, binary_costs: as in `AverageCost`.
        num_decisions: number `D` of decisions, needed without a cost matrix.

    Example:

    >>> import numpy as np
    >>> metric = NormalizedCost(cost_matrix=[[0.0, 1.0], [9.0, 0.0]])
    >>> metric.update_state(np.array([0, 1, 0]), np.array([[0.7, 0.1], [0.9, 0.3], [0.1, 0.7]]))
    >>> float(metric.result())
    0.5
    """

    def __init__(
        self,
        cost_matrix: ArrayLike | None = None,
        num_decisions: int | None = None,
        output: str | None = None,
        bayes: bool = False,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        binary_costs: bool = False,
    ):
        super().__init__(
            cost_matrix,
            output=output,
            bayes=bayes,
            name=name,
            dtype=dtype,
            binary_costs=binary_costs,
        )
        known = None if self.cost_matrix is None else self.cost_matrix.shape[1]
        if num_decisions is None and known is None:
            raise ValueError("Expected a `cost_matrix` or `num_decisions`; received neither.")
        num_decisions = known if num_decisions is None else num_decisions
        self.num_decisions = check_integer("num_decisions", num_decisions, high=LARGEST_SIZE)
        if known is not None and self.num_decisions != known:
            raise ValueError(
                f"Expected `num_decisions` to be {known}, the number of columns of "
                f"`cost_matrix`; received {num_decisions}."
            )
        self.constant = self.add_variable(
            shape=(self.num_decisions,), initializer="zeros", dtype=self.dtype, name="constant"
        )

    def targets(self, y_true: Tensor, shape: tuple[int | None, ...]) -> Tensor:
        y_true = super().targets(y_true, shape)
        given = tuple(y_true.shape)
        if self.cost_matrix is None and given[len(shape) :] != (self.num_decisions,):
            wanted = in_words(shape, self.num_decisions)
            raise ValueError(f"Expected cost vectors of shape {wanted}; received {given}.")
        return y_true

    def score(self, y_true: Tensor, chosen: Tensor, vectors: Tensor) -> Tensor:
        if vectors.shape[-1] != self.num_decisions:
            raise ValueError(
                f"Expected `costs` of {self.num_decisions} decisions, as `num_decisions` or "
                f"`cost_matrix` says; received {vectors.shape[-1]}."
            )
        return super().score(y_true, chosen, vectors)

    def accumulate(self, score: Tensor, vectors: Tensor, weights: Tensor | None) -> None:
        super().accumulate(score, vectors, weights)
        vectors = ops.reshape(ops.cast(vectors, self.dtype), (-1, self.num_decisions))
        if weights is not None:
            vectors = vectors * ops.cast(weights, self.dtype)[:, None]
        self.constant.assign_add(ops.sum(vectors, axis=0))

    def result(self) -> Tensor:
        return self.judged(ops.divide(self.total, ops.min(ops.convert_to_tensor(self.constant))))

    def reset_state(self) -> None:
        super().reset_state()
        self.constant.assign(ops.zeros((self.num_decisions,), dtype=self.dtype))

    def get_config(self) -> dict[str, Any]:
        config = {**super().get_config(), "num_decisions": self.num_decisions}
        config.pop("class_id")  # The best constant decision for a single class costs nothing.
        return config


@keras.saving.register_keras_serializable(package="csdl_keras")
class Savings(NormalizedCost):
    """Computes the share of the best constant decision's cost that a model saves.

    1 less `NormalizedCost`: 1 for a perfect model, 0 for one no better than the same decision for
    all examples, negative for a worse one. Monitor it with `mode="max"`.

    References:
        - [Bahnsen, Aouada, Ottersten: Example-dependent cost-sensitive decision
          trees, Expert Systems with Applications
          2015](https://doi.org/10.1016/j.eswa.2015.04.042)

    Example:

    >>> import numpy as np
    >>> metric = Savings(cost_matrix=[[0.0, 1.0], [9.0, 0.0]])
    >>> metric.update_state(np.array([0, 1, 0]), np.array([[0.7, 0.1], [0.9, 0.3], [0.1, 0.7]]))
    >>> float(metric.result())
    0.5
    """

    def result(self) -> Tensor:
        return ops.subtract(1.0, super().result())
