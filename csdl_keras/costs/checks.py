"""Validates costs, labels and class probabilities, and returns them as arrays."""

from typing import Any

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.arrays import (
    as_array,
    check_entries,
    check_range,
    check_rows,
    check_size,
    number_array,
    real_array,
)
from csdl_keras._utils.checks import check_bool
from csdl_keras._utils.labels import class_labels, label_array, one_hot_hint, positions
from csdl_keras._utils.tensors import LOW_PRECISION, at_least_float32
from csdl_keras._utils.types import ArrayLike, Tensor
from csdl_keras.costs.named_matrix import by_class

#: Largest deviation from 1 of a row's sum of probabilities, in general and for 16-bit types.
TOLERANCE, TOLERANCE_16_BITS = 1e-4, 1e-2
REGRET_HINT = (
    "If these are amounts of money (gains are negative, right decisions may cost something), pass "
    "`csdl_keras.costs.regret(...)`, which changes no optimal decision; `cost_report` also accepts "
    "them unchanged, as `amounts=`."
)


def amounts(
    name: str,
    values: ArrayLike,
    ndim: int,
    shape: str,
    columns: int | None = None,
    negative: bool = True,
    classes: Any = None,
    of_examples: bool | None = False,
) -> np.ndarray:
    """Returns `values`, ordered by `by_class`, as float64 costs; gains raise unless `negative`."""
    array = values if ndim == 1 else by_class(name, values, shape, classes, of_examples)
    array = real_array(name, array, ndim, shape, columns)
    check_size(name, array)
    if not negative:
        check_entries(name, array, array >= 0, "at least 0", f" {REGRET_HINT}")
    return array


def check_cost_matrix(
    cost_matrix: ArrayLike, num_classes: int | None = None, square: bool = True, classes: Any = None
) -> np.ndarray:
    """Checks a cost matrix `C[true, decision]` and returns it as float64.

    Args:
        cost_matrix: array-like `(K, D)`: finite, not negative, zero on the diagonal.
        num_classes: the expected `K`; `None` (default) accepts any of at least 2.
        square: whether to require `D = K`; `False` accepts other decisions, too. Defaults to True.
        classes: the `K` labels, or the model or estimator that has them, which determine the order
            of a data frame with names; `None` (default) accepts names in sorted order only.

    Returns:
        A new float64 array of shape `(K, D)`.

    Example:

    >>> check_cost_matrix([[0, 1], [5, 0]])
    array([[0., 1.],
           [5., 0.]])
    """
    shape = "(K, K), C[true, decision]"
    array = amounts("cost_matrix", cost_matrix, 2, shape, negative=False, classes=classes)
    rows, columns = array.shape
    expected = "(K, K)" if square else "(K, D) with D >= K"
    if rows < 2 or columns < rows or (square and columns != rows):
        raise ValueError(
            f"Expected `cost_matrix` of shape {expected}, K at least 2, C[true, decision]; "
            f"received shape {array.shape}."
        )
    if num_classes is not None:
        check_rows("cost_matrix", array, num_classes, "classes")
    wrong = np.flatnonzero(np.diagonal(array))
    if len(wrong):
        index = int(wrong[0])
        raise ValueError(
            "The diagonal of a cost matrix is 0, because right decisions cost nothing; received "
            f"C[{index}, {index}] = {array[index, index]}. {REGRET_HINT}"
        )
    return array


def check_cost_vectors(
    costs: ArrayLike,
    num_decisions: int | None = None,
    binary_costs: bool = False,
    classes: Any = None,
) -> np.ndarray:
    """Checks cost vectors, one row for each example, and returns them as float64.

    Args:
        costs: array-like `(N, D)`, a cost for each decision: finite and not negative.
        num_decisions: the expected `D`; `None` (default) accepts any.
        binary_costs: `False` (default) raises if all rows are one-hot, with three classes or more,
            since these are labels; `True` if one decision of each example really costs 1.
        classes: labels that determine the order of named columns, as in `check_cost_matrix`.

    Returns:
        A new float64 array of shape `(N, D)`.

    Example:

    >>> check_cost_vectors([[0, 2, 1]], num_decisions=3)
    array([[0., 2., 1.]])
    """
    shape = f"(N, {num_decisions or 'D'}), a cost for each decision"
    array = by_class("costs", costs, shape, classes, of_examples=True)
    # pandas creates one-hot rows of booleans.
    dummies = array.dtype.kind == "b" and array.ndim == 2 and array.size > 0
    vectors = array if dummies else amounts("costs", array, 2, shape, num_decisions, False)
    if not check_bool("binary_costs", binary_costs):
        check_not_one_hot("`costs`", one_hot_counts(vectors))
    return number_array("costs", vectors, shape)  # Other booleans raise.


def one_hot_counts(costs: Tensor, weights: Tensor = None) -> Any:
    """Counts rows that are not one-hot, and entries above 1/2 by their index modulo 3, `(4,)`."""
    library: Any = np if isinstance(costs, np.ndarray) else ops
    costs = costs.astype("float64", copy=False) if library is np else at_least_float32(costs)
    width = costs.shape[-1]
    # Even with label smoothing, a row sums to 1 and all its entries but one are equal. The sum
    # may differ by 2e-3 in bfloat16, which rounds each term by at most 1/512 of it.
    least = library.max(costs, axis=-1) + (width - 1) * library.min(costs, axis=-1)
    other = library.maximum(library.sum(costs, axis=-1) - 1.0, 1.0 - least) > 2e-3
    marks = [library.any(costs[..., k::3] > 0.5, axis=-1) for k in range(3)]
    found = library.where(library.stack([other, *marks], axis=-1), 1.0, 0.0)
    if weights is not None:
        counted = ops.reshape(weights, ops.shape(other)) > 0
        found = found * ops.cast(counted, found.dtype)[..., None]
    return library.sum(found, axis=tuple(range(len(found.shape) - 1)))


def check_not_one_hot(name: str, counts: np.ndarray) -> None:
    """Raises if all rows are one-hot and mark at least three classes, by their `one_hot_counts`."""
    if counts[0] == 0 and counts[1:].all():
        raise ValueError(
            f"All {counts.sum():.0f} rows of {name} are one-hot: as cost vectors, they would make "
            "the right class the only wrong decision. Pass labels, `argmax(axis=1)` of the rows "
            "(of pixels `axis=-1`), and the costs of mistakes as `cost_matrix=`. If one decision "
            "of each example really costs 1, pass binary_costs=True or 2 * costs."
        )


def check_mean_costs(
    mean_costs: ArrayLike, num_classes: int | None = None, classes: Any = None
) -> np.ndarray:
    """Checks mean costs by class, as from `class_means`, and returns them as float64.

    Args:
        mean_costs: array-like `(K, D)`, K at least 2: finite, not negative.
        num_classes, classes: as in `check_cost_matrix`.

    Returns:
        A new float64 array of shape `(K, D)`.

    Example:

    >>> check_mean_costs([[0.5, 2], [7, 0]])
    array([[0.5, 2. ],
           [7. , 0. ]])
    """
    array = amounts("mean_costs", mean_costs, 2, "(K, D)", negative=False, classes=classes)
    if len(array) < 2:
        raise ValueError(f"`mean_costs` needs at least 2 classes; received shape {array.shape}.")
    if num_classes is not None:
        check_rows("mean_costs", array, num_classes, "classes")
    return array


def check_labels(
    labels: ArrayLike, num_classes: int | None = None, classes: Any = None
) -> np.ndarray:
    """Checks class labels and returns them as an integer array.

    Args:
        labels: array-like `(N,)` of integers, `0 <= y < K`, or booleans; any type with `classes`.
        num_classes: `K`; `None` (default) checks only that labels are not negative.
        classes: the `K` labels in the order of the rows of the cost matrix, or the model or
            estimator that has them; `None` (default) if labels are row numbers.

    Returns:
        An int64 array of shape `(N,)`.

    Example:

    >>> check_labels([0, 2, 1], num_classes=3)
    array([0, 2, 1])
    """
    known = class_labels(classes)
    if known is not None:
        labels = positions("labels", labels, known)
    array = label_array("labels", labels)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"Expected `labels` of shape (N,) with N at least 1; received shape {array.shape}."
            f"{one_hot_hint('labels', array)}"
        )
    if array.dtype.kind not in "iub":
        raise ValueError(
            f"Expected `labels` of an integer dtype; received {array.dtype}. Pass "
            "`labels.astype(int)`, or the labels of all classes as `classes=`, such as "
            "classes=model.classes."
        )
    check_entries("labels", array, array >= 0, "at least 0")
    if num_classes is not None:
        found = np.unique(array)
        hint = (
            f" There are {len(found)} classes, {found[0]} to {found[-1]}; each needs a row in the "
            "cost matrix and an output of the network."
        )
        if found[0] == 1 and found[-1] == num_classes:
            hint = " Labels start at 1, but rows of costs start at 0: pass `labels - 1`."
        below = f"below {num_classes}, the number of classes"
        check_entries("labels", array, array < num_classes, below, hint)
    return array.astype(np.int64)


def labels_of_rank(labels: ArrayLike, num_classes: int | None, rank: int) -> np.ndarray:
    """Checks labels of `rank` axes, such as those of pixels, `(N, height, width)`."""
    array = label_array("labels", labels)
    if array.ndim != rank:
        raise ValueError(
            f"Expected `labels` of {rank} axes; received shape {array.shape}."
            f"{one_hot_hint('labels', array)}"
        )
    return check_labels(array.ravel(), num_classes).reshape(array.shape)


def probability_rows(values: Tensor, loose: bool = False) -> Tensor:
    """Marks the rows of `(..., K)` that are distributions; `loose` allows 16-bit rounding."""
    short = loose or keras.backend.standardize_dtype(values.dtype) in LOW_PRECISION
    tolerance = TOLERANCE_16_BITS if short else TOLERANCE
    library: Any = ops
    if isinstance(values, np.ndarray):
        library, values = np, values.astype("float64")
    if values.shape[-1] == 1:
        return library.logical_and(values[..., 0] >= 0.0, values[..., 0] <= 1.0)
    with np.errstate(invalid="ignore", over="ignore"):
        near = library.abs(library.sum(values, axis=-1) - 1.0) <= tolerance
    return library.logical_and(near, library.min(values, axis=-1) >= 0.0)


def check_probabilities(probabilities: ArrayLike, classes: Any = None) -> np.ndarray:
    """Returns class probabilities, `(N, K)` or `(N, 1)` of class 1, as float64 rows `(N, K)`."""
    shape = as_array("probabilities", probabilities, "(N, K)").shape
    if len(shape) == 2 and shape[1] > 1:
        probabilities = by_class("probabilities", probabilities, "(N, K)", classes, True)
    rows = real_array("probabilities", probabilities, 2, "(N, K)", low=0.0)
    if rows.shape[1] == 1:
        check_range("`probabilities`", rows, 0, 1, hint=" Are they logits or costs?")
        return np.hstack([1.0 - rows, rows])
    wrong = np.flatnonzero(~probability_rows(rows, loose=True))
    if len(wrong):
        row = rows[wrong[0]]
        raise ValueError(f"Rows of `probabilities` must sum to 1; row {wrong[0]} is {row}.")
    return rows
