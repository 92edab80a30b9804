"""Costs of a batch's examples that are known when deciding, as tensors."""

from collections.abc import Callable
from typing import Any, TypeAlias

from keras import ops

from csdl_keras._utils.tensors import alike, at_least_float32, is_tensor
from csdl_keras._utils.types import Tensor
from csdl_keras.costs._tensors import class_index, labels_of_shape, tensor_or_labels
from csdl_keras.costs.known import AffineCosts, CostsLike, check_known_costs

#: A tensor, or what `check_known_costs` takes.
BatchCostsLike: TypeAlias = CostsLike | Tensor


class BatchCosts:
    """Costs `(K, D)`, `(batch, K, D)` or affine in an amount, of the examples of one batch.

    A tensor is not checked further; what else `costs` may be, `check_known_costs` checks.
    """

    def __init__(self, costs: BatchCostsLike, batch: int | None):
        self._batch, self._amount = batch, None
        fixed: Any = costs
        if not is_tensor(costs):
            fixed = check_known_costs(costs, num_examples=batch)
        elif len(costs.shape) != 2 and not alike(tuple(costs.shape), (batch, None, None)):
            raise ValueError(
                f"Expected `costs` of shape (K, D) or ({batch}, K, D), a matrix for each "
                f"example; received shape {tuple(costs.shape)}."
            )
        if isinstance(fixed, AffineCosts):
            self._amount = ops.convert_to_tensor(fixed.amount, "float32")
            self._per_unit = ops.convert_to_tensor(fixed.per_unit, "float32")
            fixed = fixed.fixed
        self._fixed = at_least_float32(
            fixed if is_tensor(fixed) else ops.convert_to_tensor(fixed, "float32")
        )
        self.num_classes, self.num_decisions = self._fixed.shape[-2:]

    def labels(self, y_true: Any) -> Tensor:
        """Returns labels `(batch,)`: as a checked array, or a tensor."""
        return labels_of_shape(tensor_or_labels(y_true, self.num_classes), (self._batch,))

    def decision_costs(self, outputs: Tensor, of_costs: bool) -> Tensor:
        """Returns `(batch, D)`: estimated costs as they are, expected costs of probabilities."""
        width, what = self.num_classes, "probabilities, one for each row"
        if of_costs:
            width, what = self.num_decisions, "estimated costs, one for each column"
        if not alike(tuple(outputs.shape), (self._batch, width)):
            raise ValueError(
                f"Expected outputs of shape ({self._batch}, {width}), {what} of `costs`; received "
                f"{tuple(outputs.shape)}."
            )
        if of_costs:
            return outputs
        return self._sum(lambda costs: ops.matmul(outputs[:, None], costs)[:, 0])

    def of_labels(self, y_true: Tensor) -> Tensor:
        """Returns the cost vector of each label, `(batch, D)`; NaN for one that is no class."""
        index, known = class_index(ops.convert_to_tensor(y_true), self.num_classes)

        def rows(costs: Tensor) -> Tensor:
            if len(costs.shape) == 2:
                return ops.take(costs, index, axis=0)
            return ops.take_along_axis(costs, index[:, None, None], axis=1)[:, 0]

        return ops.where(known[:, None], self._sum(rows), float("nan"))

    def _sum(self, term: Callable[[Tensor], Tensor]) -> Tensor:
        """Returns the term of the fixed costs plus amounts times that of the costs of a unit."""
        if self._amount is None:
            return term(self._fixed)
        return ops.add(term(self._fixed), ops.multiply(self._amount[:, None], term(self._per_unit)))
