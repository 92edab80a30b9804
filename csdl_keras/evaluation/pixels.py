"""Decisions of pixels, or of other parts of examples, as those of as many examples."""

from csdl_keras._utils.arrays import as_array
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.known import CostsLike, check_known_costs


def one_row_each(
    y_true: ArrayLike, decisions: ArrayLike, cost_matrix: CostsLike | None
) -> tuple[ArrayLike, ArrayLike]:
    """Returns labels or cost vectors, and decisions, with one row for each decision.

    What has one decision for each example is returned as it is.

    Args:
        y_true: labels `(N, ...)`, or without a cost matrix cost vectors `(N, ..., D)`.
        decisions: integers `(N, ...)`, such as `(N, height, width)`.
        cost_matrix: `(K, D)`, or `None`.

    Raises:
        ValueError: if the shapes differ, or there are costs of each example and several
            decisions for each.
    """
    chosen = as_array("decisions", decisions, "(N,) or (N, ...)")
    if chosen.ndim < 2:
        return y_true, decisions
    true = as_array("y_true", y_true, "(N, ...)")
    shape = true.shape[:-1] if cost_matrix is None else true.shape
    if shape != chosen.shape:
        last = "" if cost_matrix is not None else ", D"
        raise ValueError(
            f"Expected `y_true` of shape ({', '.join(map(str, chosen.shape))}{last}), that of "
            f"`decisions`, with an integer for each label; received shape {true.shape}."
        )
    if cost_matrix is None:
        return true.reshape(-1, true.shape[-1]), chosen.ravel()
    known = check_known_costs(cost_matrix)
    if len(known.shape) != 2:
        raise ValueError(
            f"Expected a `cost_matrix` of shape (K, D) for decisions of shape {chosen.shape}; "
            f"received shape {known.shape}."
        )
    return true.ravel(), chosen.ravel()
