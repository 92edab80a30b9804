"""Cost matrices of losses and metrics: their tensors, and what configs hold of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from keras import ops

from csdl_keras.costs import check_cost_matrix

# Entries; a matrix of 128 classes takes some 300 kB of JSON, one of 10,000 classes would take 2 GB.
LARGEST = 128 * 128


def to_config(matrix: np.ndarray | None) -> Any:
    """What a config holds of a matrix: its rows, or the shape alone if it has many entries."""
    if matrix is None:
        return None
    return {"shape": list(matrix.shape)} if matrix.size > LARGEST else matrix.tolist()


def from_config(
    cost_matrix: Any, dtype: str, prepare: Callable[[np.ndarray], np.ndarray] | None = None
) -> tuple[np.ndarray, Any]:
    """A cost matrix, checked, and the tensor from which rows are taken.

    For a config that holds the shape alone, an array of NaN without memory, and no tensor.

    Args:
        cost_matrix: array-like `(K, D)`, or what `to_config` returns.
        dtype: of the array and the tensor.
        prepare: makes `(K, D)` rows of the array; `None` (default) takes it as it is.

    Returns:
        The array, and the rows with one more of NaN, for labels that are no class.
    """
    if isinstance(cost_matrix, dict) and cost_matrix.keys() == {"shape"}:
        return np.broadcast_to(np.nan, cost_matrix["shape"]), None
    matrix = check_cost_matrix(cost_matrix, square=False).astype(dtype)
    rows = np.full((len(matrix) + 1, matrix.shape[1]), np.nan, dtype)
    rows[:-1] = matrix if prepare is None else prepare(matrix)
    # Made here, since arrays within a compiled function become constants, which TensorFlow takes
    # minutes to compile, and PyTorch would convert the array at each step.
    return matrix, ops.convert_to_tensor(rows)


def check_present(owner: Any, tensor: Any) -> None:
    """Raises a ValueError if the matrix of a loss or metric was left out of its config."""
    if owner.cost_matrix is not None and tensor is None:
        raise ValueError(
            f"Expected {owner.name!r} to have a cost matrix; received one that was loaded without "
            f"it, since files keep matrices of at most {LARGEST} entries for losses and metrics, "
            f"not of shape {owner.cost_matrix.shape}. The model predicts as it is. To train or "
            f"evaluate it, compile it again with {type(owner).__name__}(cost_matrix=...)."
        )
