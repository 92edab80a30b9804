"""Each function of `costs`: right arguments, and what its documentation says."""

from typing import Any

import numpy as np

from csdl_keras import costs
from tests.robustness.documented import (
    has_every_class,
    is_amounts,
    is_indices,
    is_integer,
    is_matrix,
    is_number,
    is_vectors,
)
from tests.robustness.outcome import Case


def amounts(rng, *shape):
    """Quarters, which float16 and bfloat16 hold exactly."""
    return rng.integers(-32, 32, size=shape) / 4


def vectors(rng, *shape):
    return np.abs(amounts(rng, *shape))


def matrix(rng, rows, columns):
    table = vectors(rng, rows, columns)
    table[np.arange(rows), np.arange(rows)] = 0.0
    return table


def every_class(rng, size):
    return rng.permutation(np.arange(size + int(rng.integers(3))) % size)


def floats(x):
    return np.asarray(x, "f8")


def optional_integer(x, low):
    return x is None or is_integer(x, low)


def is_one_for_each(x: Any, number: int) -> bool:
    return is_amounts(x, 0) or (is_amounts(x, 1) and len(x) == number)


def subtract_minima(x):
    return np.array([[cost - min(row) for cost in row] for row in floats(x).tolist()])


def drawn(labels, size, scale, seed):
    """Without a seed no draw can be foretold."""
    result = costs.randomized_proportional(labels, size, scale, seed)
    return result.shape if seed is None else result


def randomized(labels, size, scale, seed):
    labels = np.asarray(labels).tolist()
    size = size or max(labels) + 1
    if seed is None:
        return size, size
    uniform = np.random.default_rng(seed).uniform(size=(size, size))
    ratio = [[labels.count(k) / labels.count(y) for k in range(size)] for y in range(size)]
    return uniform * scale * ratio * (1 - np.eye(size))


def means(labels, rows, size):
    labels, rows = np.asarray(labels), floats(rows)
    return np.array([rows[labels == y].mean(axis=0) for y in range(size or labels.max() + 1)])


CASES = {
    "check_cost_matrix": Case(
        costs.check_cost_matrix,
        lambda rng, k: (matrix(rng, k, k), k),
        lambda m, k: is_matrix(m, True) and (k is None or (is_integer(k, 2) and k == len(m))),
        lambda m, k: floats(m),
    ),
    "check_cost_matrix, wide": Case(
        lambda m: costs.check_cost_matrix(m, square=False),
        lambda rng, k: (matrix(rng, k, k + 2),),
        is_matrix,
        floats,
    ),
    "check_cost_vectors": Case(
        costs.check_cost_vectors,
        lambda rng, k: (vectors(rng, 4, k), k),
        lambda v, d: is_vectors(v) and (d is None or (is_integer(d, 1) and d == np.shape(v)[1])),
        lambda v, d: floats(v),
    ),
    "check_mean_costs": Case(
        costs.check_mean_costs,
        lambda rng, k: (vectors(rng, k, k + 1), k),
        lambda v, k: (
            is_vectors(v) and len(v) >= 2 and (k is None or (is_integer(k, 2) and k == len(v)))
        ),
        lambda v, k: floats(v),
    ),
    "check_labels": Case(
        costs.check_labels,
        lambda rng, k: (rng.integers(k, size=5), k),
        lambda y, k: optional_integer(k, 1) and is_indices(y, np.inf if k is None else k),
        lambda y, k: np.asarray(y).astype("i8"),
    ),
    "zero_one": Case(
        costs.zero_one,
        lambda rng, k: (k,),
        lambda k: is_integer(k, 2, 100_000),
        lambda k: np.array([[float(y != d) for d in range(k)] for y in range(k)]),
    ),
    "randomized_proportional": Case(
        drawn,
        lambda rng, k: (every_class(rng, k), k, 10.0, int(rng.integers(9))),
        lambda y, k, scale, seed: (
            optional_integer(k, 2)
            and is_indices(y, k or np.inf)
            and (k or np.max(y) + 1) >= 2
            and has_every_class(y, k or int(np.max(y)) + 1)
            and is_number(scale, 0, 1e30)
            and optional_integer(seed, 0)
        ),
        randomized,
    ),
    "cost_vectors": Case(
        costs.cost_vectors,
        lambda rng, k: (matrix(rng, k, k + 1), rng.integers(k, size=4)),
        lambda m, y: is_matrix(m) and is_indices(y, len(m)),
        lambda m, y: np.array([floats(m)[label] for label in np.asarray(y)]),
    ),
    "regret": Case(
        costs.regret,
        lambda rng, k: (amounts(rng, 3, k),),
        lambda x: is_amounts(x, 2),
        subtract_minima,
    ),
    "class_means": Case(
        costs.class_means,
        lambda rng, k: (lambda y: (y, vectors(rng, len(y), k), k))(every_class(rng, k)),
        lambda y, v, k: (
            is_vectors(v)
            and optional_integer(k, 1)
            and is_indices(y, k or np.inf)
            and len(y) == len(v)
            and has_every_class(y, k or int(np.max(y)) + 1)
        ),
        means,
    ),
    "with_abstain": Case(
        costs.with_abstain,
        lambda rng, k: (matrix(rng, k, k), vectors(rng, k)),
        lambda m, p: is_matrix(m) and is_one_for_each(p, len(m)) and floats(p).min() >= 0,
        lambda m, p: np.column_stack([floats(m), np.broadcast_to(floats(p), len(m))]),
    ),
}
