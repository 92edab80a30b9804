"""Converts costs, labels and probabilities to tensors, and cost matrices to configs."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.arrays import as_array
from csdl_keras._utils.tensors import alike, at_least_float32, check_numbered, is_tensor
from csdl_keras._utils.types import Tensor
from csdl_keras.costs.checks import check_cost_matrix, check_labels, probability_rows
from csdl_keras.costs.known import AffineCosts, CostsLike, check_known_costs

#: Most entries that a config stores: 128 x 128 take 300 kB of JSON, 10,000 x 10,000 2 GB.
LARGEST_SAVED = 128 * 128


def to_config(matrix: np.ndarray | None) -> list[list[float]] | dict[str, list[int]] | None:
    """Returns a cost matrix for a config: its rows, or only the shape of a large one."""
    if matrix is None:
        return None
    return {"shape": list(matrix.shape)} if matrix.size > LARGEST_SAVED else matrix.tolist()


def from_config(
    cost_matrix: Any, dtype: str, prepare: Callable[[np.ndarray], np.ndarray] | None = None
) -> tuple[np.ndarray | None, Tensor]:
    """Returns a matrix, and a tensor of its rows and a row of NaN, or `None` without entries."""
    if cost_matrix is None:
        return None, None
    if isinstance(cost_matrix, dict) and cost_matrix.keys() == {"shape"}:
        return np.broadcast_to(np.nan, cost_matrix["shape"]), None
    matrix = check_cost_matrix(cost_matrix, square=False).astype(dtype)
    rows = np.full((len(matrix) + 1, matrix.shape[1]), np.nan, dtype)
    rows[:-1] = matrix if prepare is None else prepare(matrix)
    # Arrays within a compiled function become constants, which TensorFlow needs minutes to
    # compile, and which PyTorch would convert at each step.
    return matrix, ops.convert_to_tensor(rows)


def check_present(owner: keras.losses.Loss | keras.metrics.Metric, tensor: Tensor) -> None:
    """Raises a ValueError if the matrix of a loss or metric was left out of its config."""
    if owner.cost_matrix is not None and tensor is None:
        raise ValueError(
            f"{owner.name!r} was loaded without its cost matrix, {owner.cost_matrix.shape}, since "
            f"files of models store at most {LARGEST_SAVED} entries. To train or evaluate the "
            f"model, compile it again with {type(owner).__name__}(cost_matrix=...)."
        )


def labels_of_shape(labels: Tensor, shape: tuple[int | None, ...]) -> Tensor:
    """Returns labels of a static shape `(batch, ...)`; may drop a last axis of size 1."""
    given = tuple(labels.shape)
    if alike(given, shape):
        return labels
    if given[-1:] == (1,) and alike(given[:-1], shape):
        return labels[..., 0]
    raise ValueError(
        f"Expected integer labels of shape {shape}, or with a last axis of size 1; received shape "
        f"{given}. Cost vectors need no `cost_matrix`; convert one-hot rows with "
        "`argmax(axis=1)`."
    )


def class_index(labels: Tensor, num_classes: int) -> tuple[Tensor, Tensor]:
    """Returns labels as class indices, and whether each label is in `[0, num_classes)`."""
    dtype = keras.backend.standardize_dtype(labels.dtype)
    if "float" in dtype:
        labels = at_least_float32(labels)
        index = ops.cast(labels, "int32") % num_classes
        return index, ops.cast(index, labels.dtype) == labels
    # Narrow types cannot represent every index, and backends lack operations on unsigned ones.
    labels = ops.cast(labels, "int64" if dtype in ("int64", "uint32", "uint64") else "int32")
    index = labels % num_classes
    return index, index == labels


def rows_of(rows: Tensor, labels: Tensor) -> Tensor:
    """Returns the row of each label in `(K + 1, D)`; invalid labels get the last row."""
    classes = rows.shape[0] - 1
    index, known = class_index(labels, classes)
    return ops.take(rows, ops.where(known, index, classes), axis=0)


def tensor_or_labels(
    labels: Tensor, num_classes: int, shape: tuple[int | None, ...] = (None,)
) -> Tensor:
    """Returns labels of the expected shape: tensors unchanged, other values as checked int32."""
    if is_tensor(labels):
        check_numbered("classes", num_classes, keras.backend.standardize_dtype(labels.dtype))
        return labels_of_shape(labels, shape)
    array = labels_of_shape(as_array("labels", labels, "(batch, ...)"), shape)
    if array.dtype.kind == "f":
        values = array.astype(np.float64)
        if np.all((values == np.floor(values)) & (np.abs(values) < 2**31)):
            array = values.astype(np.int64)
    return check_labels(array.ravel(), num_classes).astype(np.int32).reshape(array.shape)


def matrices_of_batch(costs: CostsLike | Tensor, outputs: Tensor) -> Tensor:
    """Returns costs that are known when deciding as a tensor `(batch, K, D)`."""
    found: Any = costs
    if not is_tensor(costs):
        found = check_known_costs(costs, num_examples=outputs.shape[0])
        if isinstance(found, AffineCosts):
            found = found.fixed + found.amount[:, None, None] * found.per_unit
        found = ops.convert_to_tensor(found, "float32")
    if not alike(tuple(found.shape[:-2]), tuple(outputs.shape[:-1])[: len(found.shape) - 2]):
        raise ValueError(
            f"`costs` must have the shape (K, D), or ({outputs.shape[0]}, K, D) for a matrix for "
            f"each example; received {tuple(found.shape)}."
        )
    return ops.broadcast_to(found, (ops.shape(outputs)[0], *found.shape[-2:]))


def known_rows(matrices: Tensor, labels: Tensor) -> Tensor:
    """Returns the row of each label in its matrix, `(batch, D)`; NaN for invalid labels."""
    index, known = class_index(labels, matrices.shape[1])
    rows = ops.take_along_axis(matrices, index[:, None, None], axis=1)[:, 0]
    return ops.where(known[:, None], rows, float("nan"))


def two_columns(probabilities: Tensor) -> Tensor:
    """Turns `(..., 1)` of P(y=1) into the columns `[1 - p, p]`; keeps wider tensors."""
    if probabilities.shape[-1] != 1:
        return probabilities
    return ops.concatenate([1.0 - probabilities, probabilities], axis=-1)


def distributions(probabilities: Tensor) -> Tensor:
    """Returns rows `(..., K)`, with NaN for those that are negative or do not sum to 1."""
    proper = ops.expand_dims(probability_rows(probabilities, loose=True), -1)
    probabilities = two_columns(probabilities)
    return ops.where(proper, probabilities, ops.cast(np.nan, probabilities.dtype))
