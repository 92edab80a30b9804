"""The share of the best constant decision's cost that a model's decisions save."""

from typing import Any

import keras
from keras import ops

from csdl_keras.metrics.normalized_cost import NormalizedCost


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
