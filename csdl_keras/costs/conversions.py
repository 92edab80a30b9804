"""Converts one form of costs to another."""

from typing import Any

import numpy as np

from csdl_keras._utils.arrays import check_entries, check_rows
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.checks import (
    amounts,
    check_cost_matrix,
    check_cost_vectors,
    check_labels,
    one_for_each,
)
from csdl_keras.costs.known import CostsLike, check_known_costs, vectors_of_labels
from csdl_keras.costs.named_matrix import by_class, names_of_frame


def cost_vectors(cost_matrix: CostsLike, labels: ArrayLike, classes: Any = None) -> np.ndarray:
    """Returns the cost vector of each example, row `labels[n]` of its cost matrix.

    Args:
        cost_matrix: `(K, D)`, `C[true, decision]`, or a matrix for each example, `(N, K, D)` or
            `AffineCosts`.
        labels, classes: as in `check_labels`.

    Returns:
        A float64 array of shape `(N, D)`.

    Example:

    >>> cost_vectors([[0, 1], [5, 0]], [1, 0, 1])
    array([[5., 0.],
           [0., 1.],
           [5., 0.]])
    """
    costs = check_known_costs(cost_matrix, classes=classes)
    checked = check_labels(labels, costs.shape[-2], classes)
    if len(costs.shape) == 3:
        check_known_costs(costs, num_examples=len(checked))
    return vectors_of_labels(checked, costs)


def regret(costs: ArrayLike) -> np.ndarray:
    """Subtracts row minima: the cost of each decision beyond that of the cheapest one.

    Turns amounts of money (gains negative, right decisions not free) into the form that losses and
    layers take. No optimal decision changes.

    Args:
        costs: `(K, D)`, `C[true, decision]`, or cost vectors `(N, D)`: finite, of any sign.

    Returns:
        A float64 array of the same shape, whose rows have minimum 0.

    Raises:
        ValueError: if the array is not two-dimensional, real and finite.

    Example:

    >>> regret([[-3, 10], [40, -2]])
    array([[ 0., 13.],
           [42.,  0.]])
    """
    array = amounts("costs", costs, 2, "(K, D) or (N, D)", of_examples=None)
    return array - array.min(axis=1, keepdims=True)


def class_means(labels: ArrayLike, costs: ArrayLike, num_classes: int | None = None) -> np.ndarray:
    """Computes the mean cost vector of each class from costs of single examples.

    It is what to decide by if nothing else is known of an example's costs, and no cost matrix in
    the strict sense, since even a right decision may cost something; see `regret`.

    Args:
        labels: integers of shape `(N,)`.
        costs: `(N, D)` cost vectors.
        num_classes: `K`; `None` (default) takes the highest label plus 1.

    Returns:
        A float64 array of shape `(K, D)`.

    Raises:
        ValueError: if a class has no example, or an argument fails its check.

    Example:

    >>> class_means([0, 1, 1], [[0, 2], [6, 0], [8, 0]])
    array([[0., 2.],
           [7., 0.]])
    """
    labels, vectors = check_labels(labels, num_classes), check_cost_vectors(costs)
    check_rows("costs", vectors, len(labels))
    size = int(labels.max()) + 1 if num_classes is None else num_classes
    counts = class_counts(labels, size)
    totals = np.zeros((size, vectors.shape[1]))
    np.add.at(totals, labels, vectors)
    return totals / counts[:, None]


def with_abstain(cost_matrix: ArrayLike, price: ArrayLike) -> np.ndarray:
    """Adds a decision that is not a class, such as to abstain or to ask a person.

    Args:
        cost_matrix: `(K, D)`, `C[true, decision]`.
        price: cost of the new decision: a number, or `K` numbers, one for each true class.

    Returns:
        A float64 array of shape `(K, D + 1)`; the new decision has index `D`.

    References:
        - [Chow: On optimum recognition error and reject tradeoff, IEEE
          Transactions on Information Theory 1970](https://doi.org/10.1109/TIT.1970.1054406)

    Example:

    >>> with_abstain([[0, 1], [5, 0]], price=0.5)
    array([[0. , 1. , 0.5],
           [5. , 0. , 0.5]])
    """
    matrix = check_cost_matrix(cost_matrix, square=False)
    price = by_class("price", price, "() or (K,)", names_of_frame(cost_matrix)[0])
    prices = one_for_each("price", price, len(matrix), "classes")
    check_entries("price", prices, prices >= 0, "at least 0")
    return np.hstack([matrix, prices[:, None]])


def class_counts(labels: np.ndarray, num_classes: int) -> np.ndarray:
    """Counts the examples of each class; raises where a class has none."""
    # With more classes than examples, one of the first N + 1 must be missing; checking those is
    # enough.
    looked_at = np.arange(min(num_classes, len(labels) + 1))
    absent = np.setdiff1d(looked_at, labels)
    if len(absent):
        raise ValueError(
            f"Expected at least one example of each of the {num_classes} classes in `labels`; "
            f"received none of class(es) {absent[:10].tolist()}."
        )
    return np.bincount(labels, minlength=num_classes)
