"""Costs of two classes, from what each of four outcomes costs."""

from typing import Any

import numpy as np

from csdl_keras._array_checks import as_array
from csdl_keras.costs._amounts import one_for_each
from csdl_keras.costs.checks import check_labels
from csdl_keras.costs.conversions import regret


def from_binary(
    tp_cost: Any, fp_cost: Any, tn_cost: Any, fn_cost: Any, labels: Any = None
) -> np.ndarray:
    """Costs of two classes, from what each of the four outcomes costs.

    Class 1 is positive, class 0 negative: `[[tn, fp], [fn, tp]]`, and of a
    label its row. Amounts may be of any sign: gains are negative, and right
    decisions may cost something. What the cheaper decision of a row costs is
    taken off it (`regret`), as losses and layers want it, which changes no
    optimal decision; the average cost of any decisions falls by the average of
    what is taken off, so that differences between models stay.

    Args:
        tp_cost: what a true positive costs, deciding 1 for class 1: a number, or
            with labels also `N` numbers, one for each example.
        fp_cost: what a false positive costs, deciding 1 for class 0.
        tn_cost: what a true negative costs, deciding 0 for class 0.
        fn_cost: what a false negative costs, deciding 0 for class 1.
        labels: integers 0 and 1 of shape `(N,)`; `None` (default) for a matrix.

    Returns:
        A float64 array: the cost matrix `(2, 2)`, `C[true, decision]`, or with
        labels cost vectors `(N, 2)`.

    Raises:
        ValueError: if an argument fails its check; if amounts are given by
            example without labels; and without labels, if a wrong decision is
            cheaper than the right one, which no cost matrix says (the cost
            vectors of labels do).

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
    """
    given = {"tn_cost": tn_cost, "fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost}
    if labels is None:
        for name, values in given.items():
            if as_array(name, values, "()").ndim:
                raise ValueError(
                    f"Expected `labels` with `{name}` of each example; received no labels."
                )
    else:
        labels = check_labels(labels, 2)
    number = 1 if labels is None else len(labels)
    tn, fp, fn, tp = (one_for_each(name, one, number, "labels") for name, one in given.items())
    table = np.array([[tn, fp], [fn, tp]])
    if labels is None:
        return matrix_of_amounts(table[:, :, 0])
    return regret(table[labels, :, np.arange(number)])


def matrix_of_amounts(table: np.ndarray) -> np.ndarray:
    """The cost matrix of `(K, D)` amounts of any sign, whose right decisions are the cheapest."""
    matrix = regret(table)
    wrong = np.flatnonzero(np.diagonal(matrix))
    if len(wrong):
        raise ValueError(
            "Expected right decisions to be the cheapest ones of their class, as in every cost "
            f"matrix; received {table[wrong[0]].tolist()} for class {wrong[0]}. With `labels`, "
            "cost vectors may have any decision as the cheapest."
        )
    return matrix
