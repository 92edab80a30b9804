"""The cost of a model's decisions relative to the best constant decision's."""

from typing import Any

import keras
from keras import ops

from csdl_keras._utils.checks import LARGEST_SIZE, check_integer
from csdl_keras._utils.example_axes import in_words
from csdl_keras._utils.types import ArrayLike, DTypeLike, Tensor
from csdl_keras.metrics.average_cost import AverageCost


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
