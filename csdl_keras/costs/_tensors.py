"""Costs and labels inside Keras objects, as tensors and in configs."""

from collections.abc import Callable
from typing import Any, TypeAlias

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.arrays import as_array
from csdl_keras._utils.tensors import (
    LOW_PRECISION,
    alike,
    at_least_float32,
    check_numbered,
    is_tensor,
)
from csdl_keras._utils.types import Tensor
from csdl_keras.costs.checks import check_cost_matrix, check_labels
from csdl_keras.costs.known import AffineCosts, CostsLike, check_known_costs

# Entries; a matrix of 128 classes takes some 300 kB of JSON, one of 10,000 classes would take 2 GB.
LARGEST_SAVED = 128 * 128

# Dtypes of labels that are too narrow for class indices or unsupported by a backend.
_WIDE = {
    **dict.fromkeys(("bool", "int8", "uint8", "int16", "uint16"), "int32"),
    **dict.fromkeys(("uint32", "uint64"), "int64"),
    **dict.fromkeys(LOW_PRECISION, "float32"),
}


def to_config(matrix: np.ndarray | None) -> list[list[float]] | dict[str, list[int]] | None:
    """Returns a cost matrix as configs hold it: its rows, or only the shape of a large one."""
    if matrix is None:
        return None
    return {"shape": list(matrix.shape)} if matrix.size > LARGEST_SAVED else matrix.tolist()


def from_config(
    cost_matrix: Any, dtype: str, prepare: Callable[[np.ndarray], np.ndarray] | None = None
) -> tuple[np.ndarray, Tensor | None]:
    """Returns a cost matrix, and its rows as a tensor, which ends in NaN for other labels.

    The tensor is `None`, and the array NaN without memory, if a config holds only the shape.
    """
    if isinstance(cost_matrix, dict) and cost_matrix.keys() == {"shape"}:
        return np.broadcast_to(np.nan, cost_matrix["shape"]), None
    matrix = check_cost_matrix(cost_matrix, square=False).astype(dtype)
    rows = np.full((len(matrix) + 1, matrix.shape[1]), np.nan, dtype)
    rows[:-1] = matrix if prepare is None else prepare(matrix)
    # Made here, since arrays within a compiled function become constants, which TensorFlow takes
    # minutes to compile, and PyTorch would convert the array at each step.
    return matrix, ops.convert_to_tensor(rows)


def check_present(owner: keras.losses.Loss | keras.metrics.Metric, tensor: Tensor) -> None:
    """Raises a ValueError if the matrix of a loss or metric was left out of its config."""
    if owner.cost_matrix is not None and tensor is None:
        raise ValueError(
            f"Expected {owner.name!r} to have a cost matrix; received one of shape "
            f"{owner.cost_matrix.shape} that was loaded without it, since files of models keep at "
            f"most {LARGEST_SAVED} entries. To train or evaluate the model, compile it again with "
            f"{type(owner).__name__}(cost_matrix=...)."
        )


def labels_of_shape(labels: Tensor, shape: tuple[int | None, ...]) -> Tensor:
    """Returns labels of a static shape `(batch, ...)`, also where their last axis is of size 1."""
    given = tuple(labels.shape)
    if alike(given, shape):
        return labels
    if given[-1:] == (1,) and alike(given[:-1], shape):
        return labels[..., 0]
    raise ValueError(
        f"Expected integer labels of shape {shape}, or with a last axis of size 1, since costs "
        f"of every class are given; received shape {given}. Cost vectors need no `cost_matrix`; "
        "one-hot rows become labels by `argmax(axis=1)`."
    )


def class_index(labels: Tensor, num_classes: int) -> tuple[Tensor, Tensor]:
    """Returns labels as indices of classes, any for others, and which are in `[0, num_classes)`."""
    dtype = keras.backend.standardize_dtype(labels.dtype)
    if dtype in _WIDE:
        labels, dtype = ops.cast(labels, _WIDE[dtype]), _WIDE[dtype]
    # PyTorch runs operations one by one, so there are as few as possible.
    if "float" not in dtype:
        index = labels % num_classes
        return index, index == labels
    index = ops.cast(labels, "int32") % num_classes
    return index, ops.cast(index, dtype) == labels


def rows_of(rows: Tensor, labels: Tensor, outputs: Tensor) -> Tensor:
    """Returns the row of each label in `(K + 1, D)`, the last for others, as outputs' shape."""
    labels = labels_of_shape(labels, tuple(outputs.shape)[:-1])
    classes = rows.shape[0] - 1
    index, known = class_index(labels, classes)
    return ops.take(rows, ops.where(known, index, classes), axis=0)


def tensor_or_labels(
    labels: Tensor, num_classes: int, shape: tuple[int | None, ...] = (None,)
) -> Tensor:
    """Returns tensors as they are, and other labels as checked int32 of the expected shape."""
    if is_tensor(labels):
        check_numbered("classes", num_classes, keras.backend.standardize_dtype(labels.dtype))
        return labels
    array = labels_of_shape(as_array("labels", labels, "(batch, ...)"), shape)
    if array.dtype.kind == "f":
        values = array.astype(np.float64)
        if np.all((values == np.floor(values)) & (np.abs(values) < 2**31)):
            array = values.astype(np.int64)
    return check_labels(array.ravel(), num_classes).astype(np.int32).reshape(array.shape)


#: A tensor, or what `check_known_costs` takes.
BatchCostsLike: TypeAlias = CostsLike | Tensor


class BatchCosts:
    """Costs `(K, D)`, `(batch, K, D)` or affine in an amount, of the examples of one batch."""

    def __init__(self, costs: BatchCostsLike, batch: int | None):
        self._batch, self._amount = batch, None
        fixed: Any = costs
        if not is_tensor(costs):
            fixed = check_known_costs(costs, num_examples=batch)
        elif len(fixed.shape) != 2 and not alike(tuple(fixed.shape), (batch, None, None)):
            raise ValueError(
                f"Expected `costs` of shape (K, D) or ({batch}, K, D), a matrix for each "
                f"example; received shape {tuple(fixed.shape)}."
            )
        if isinstance(fixed, AffineCosts):
            self._amount = ops.convert_to_tensor(fixed.amount, "float32")
            self._per_unit = ops.convert_to_tensor(fixed.per_unit, "float32")
            fixed = fixed.fixed
        fixed = fixed if is_tensor(fixed) else ops.convert_to_tensor(fixed, "float32")
        self._fixed = at_least_float32(fixed)
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
