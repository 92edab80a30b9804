"""Costs of a batch's examples that are known when deciding, as tensors."""

from typing import Any, TypeAlias

from keras import ops

from csdl_keras._utils.tensors import (
    alike,
    at_least_float32,
    distributions,
    is_tensor,
)
from csdl_keras._utils.types import Tensor
from csdl_keras.costs._tensors import class_index, tensor_or_labels
from csdl_keras.costs.known import AffineCosts, CostsLike, check_known_costs

#: A tensor, or what `check_known_costs` takes.
BatchCostsLike: TypeAlias = CostsLike | Tensor


class BatchCosts:
    """Costs `(K, D)`, `(batch, K, D)` or affine in an amount, of the examples of one batch.

    Args:
        costs: a tensor `(K, D)` or `(batch, K, D)`, which is not checked further, or costs that
            `check_known_costs` takes.
        batch: number of examples; `None` if it is not known.

    Raises:
        ValueError: if the costs fail their check.
    """

    def __init__(self, costs: BatchCostsLike, batch: int | None):
        self._batch, self._amount = batch, None
        if is_tensor(costs):
            tensor: Tensor = costs
            shape = tuple(tensor.shape)
            if len(shape) not in (2, 3) or (len(shape) == 3 and not alike(shape[:1], (batch,))):
                raise ValueError(
                    f"Expected `costs` of shape (K, D) or ({batch}, K, D), a matrix for each "
                    f"example; received shape {shape}."
                )
            self._fixed = at_least_float32(tensor)
        else:
            known = check_known_costs(costs, num_examples=batch)
            self._fixed = known
            if isinstance(known, AffineCosts):
                self._fixed = ops.convert_to_tensor(known.fixed, "float32")
                self._amount = ops.convert_to_tensor(known.amount, "float32")
                self._per_unit = ops.convert_to_tensor(known.per_unit, "float32")
            else:
                self._fixed = ops.convert_to_tensor(known, "float32")
        self.num_classes, self.num_decisions = self._fixed.shape[-2:]

    def labels(self, y_true: Any) -> Tensor:
        """Returns labels `(batch,)`: as a checked array, or a tensor.

        Raises:
            ValueError: if an array holds anything but classes, or the shape is not that of labels.
        """
        y_true = tensor_or_labels(y_true, self.num_classes)
        shape = tuple(y_true.shape)
        if shape[1:] == (1,):
            return y_true[:, 0]
        if len(shape) != 1:
            raise ValueError(
                "Expected labels of shape (batch,) or (batch, 1) with `costs`, which are of every "
                f"class; received {shape}. Cost vectors need no `costs`."
            )
        return y_true

    def decision_costs(self, y_pred: Tensor, kind: str) -> Tensor:
        """Returns `(batch, D)`: estimated costs as they are, expected costs of probabilities."""
        if len(y_pred.shape) != 2:
            raise ValueError(
                "Expected outputs of shape (batch, D) with `costs` of each example; received "
                f"{tuple(y_pred.shape)}."
            )
        if not alike(tuple(y_pred.shape)[:1], (self._batch,)):
            raise ValueError(
                f"Expected outputs for each of {self._batch} labels; received {y_pred.shape[0]}."
            )
        if kind == "cost":
            if y_pred.shape[-1] != self.num_decisions:
                raise ValueError(
                    f"Expected {self.num_decisions} estimated costs, one for each column of "
                    f"`costs`; received {y_pred.shape[-1]}."
                )
            return y_pred
        rows = distributions(y_pred)
        if rows.shape[-1] != self.num_classes:
            raise ValueError(
                f"Expected {self.num_classes} probabilities, one for each row of `costs`; "
                f"received {rows.shape[-1]}."
            )
        rows, fixed = at_least_float32(rows, self._fixed)
        if len(fixed.shape) == 3:
            return ops.einsum("bk,bkd->bd", rows, fixed)
        expected = ops.matmul(rows, fixed)
        if self._amount is None:
            return expected
        amount, per_unit = (ops.cast(it, expected.dtype) for it in (self._amount, self._per_unit))
        return expected + amount[:, None] * ops.matmul(rows, per_unit)

    def of_labels(self, y_true: Tensor) -> Tensor:
        """Returns the cost vector of each label, `(batch, D)`; NaN for one that is no class."""
        index, known = class_index(ops.convert_to_tensor(y_true), self.num_classes)
        index = ops.cast(index, "int32")
        if len(self._fixed.shape) == 3:
            first = ops.arange(ops.shape(self._fixed)[0], dtype="int32") * self.num_classes
            rows = ops.reshape(self._fixed, (-1, self.num_decisions))
            vectors = ops.take(rows, first + index, axis=0)
        else:
            vectors = ops.take(self._fixed, index, axis=0)
        if self._amount is not None:
            vectors = vectors + self._amount[:, None] * ops.take(self._per_unit, index, axis=0)
        return ops.where(known[:, None], vectors, float("nan"))
