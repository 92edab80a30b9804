"""Right arguments that many public functions take."""

import numpy as np


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


def probabilities(rng, rows, columns):
    """Rows of sixteenths that sum to 1."""
    return rng.multinomial(16, np.full(columns, 1 / columns), size=rows) / 16


def inputs(rng, size):
    """Sixteenths in [0, 1]."""
    return rng.integers(17, size=(size, 3)) / 16


def examples(rng, k):
    """Inputs and labels, at least one of each class."""
    y = rng.permutation(np.arange(2 * k) % k)
    return inputs(rng, len(y)), y


def priced(rng, k):
    """A cost matrix in which every mistake costs something."""
    return matrix(rng, k, k) + 1 - np.eye(k)
