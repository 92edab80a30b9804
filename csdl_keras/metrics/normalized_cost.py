"""The cost of a model's decisions beside that of the best constant decision."""

from typing import Any

import keras
from keras import ops

from csdl_keras._utils.checks import LARGEST_SIZE, check_integer
from csdl_keras._utils.tensors import check_weights
from csdl_keras.metrics.average_cost import AverageCost


@keras.saving.register_keras_serializable(package="csdl_keras")
class NormalizedCost(AverageCost):
    """What the model's decisions cost, in units of the best constant decision's cost.

    `sum_n w_n c_n[g(x_n)] / min_k sum_n w_n c_n[k]`. 1 is what deciding the same
    for everybody costs, 0 a perfect model; the savings are 1 less this. It
    compares across data sets and matrices whose costs have different units.
    Infinite, or NaN, where a constant decision costs nothing.

    Args:
        cost_matrix: as in `AverageCost`.
        num_decisions: `D`, needed without a cost matrix.
        output: as in `AverageCost`.
        bayes: as in `AverageCost`.
        name: name of the metric.
        dtype: dtype of the result, by default at least float32.

    Raises:
        ValueError: as `AverageCost`; or if there is neither a matrix nor
            `num_decisions`, or they contradict each other.

    Example:

    >>> import numpy as np
    >>> metric = NormalizedCost(cost_matrix=[[0.0, 1.0], [9.0, 0.0]])
    >>> metric.update_state(np.array([0, 1, 0]), np.array([[0.7, 0.1], [0.9, 0.3], [0.1, 0.7]]))
    >>> float(metric.result())
    0.5
    """

    def __init__(
        self,
        cost_matrix: Any = None,
        num_decisions: int | None = None,
        output: str | None = None,
        bayes: bool = False,
        name: str | None = "normalized_cost",
        dtype: Any = None,
    ):
        super().__init__(cost_matrix, output=output, bayes=bayes, name=name, dtype=dtype)
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

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        y_true = self.checked_targets(y_true)
        sample_weight = check_weights(sample_weight, y_true)
        super().update_state(y_true, y_pred, sample_weight)
        costs = ops.cast(self.example_costs(y_true), self.dtype)
        if sample_weight is not None:
            weight = ops.cast(ops.convert_to_tensor(sample_weight), self.dtype)
            costs = costs * ops.reshape(weight, (-1, 1))
        self.constant.assign_add(ops.sum(costs, axis=0))

    def checked_targets(self, y_true: Any) -> Any:
        y_true = super().checked_targets(y_true)
        if self.cost_matrix is None and tuple(y_true.shape)[1:] != (self.num_decisions,):
            raise ValueError(
                f"Expected cost vectors of shape (batch, {self.num_decisions}); received "
                f"{tuple(y_true.shape)}."
            )
        return y_true

    def result(self) -> Any:
        return ops.divide(self.total, ops.min(ops.convert_to_tensor(self.constant)))

    def reset_state(self) -> None:
        super().reset_state()
        self.constant.assign(ops.zeros((self.num_decisions,), dtype=self.dtype))

    def get_config(self) -> dict[str, Any]:
        config = {**super().get_config(), "num_decisions": self.num_decisions}
        config.pop("class_id")  # of a single class the best constant decision costs nothing
        return config


@keras.saving.register_keras_serializable(package="csdl_keras")
class Savings(NormalizedCost):
    """What the model's decisions save of the best constant decision's cost.

    `1 - sum_n w_n c_n[g(x_n)] / min_k sum_n w_n c_n[k]`: 1 is a perfect model, 0
    what deciding the same for everybody saves, below 0 the model is worse than
    that. Monitor it with `mode="max"`.

    Args:
        cost_matrix: as in `AverageCost`.
        num_decisions: `D`, needed without a cost matrix.
        output: as in `AverageCost`.
        bayes: as in `AverageCost`.
        name: name of the metric.
        dtype: dtype of the result, by default at least float32.

    Raises:
        ValueError: as `NormalizedCost`.

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

    def __init__(
        self,
        cost_matrix: Any = None,
        num_decisions: int | None = None,
        output: str | None = None,
        bayes: bool = False,
        name: str | None = "savings",
        dtype: Any = None,
    ):
        super().__init__(cost_matrix, num_decisions, output, bayes, name=name, dtype=dtype)

    def result(self) -> Any:
        return ops.subtract(1.0, super().result())
