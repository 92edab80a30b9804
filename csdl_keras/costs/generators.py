"""Generates cost matrices for experiments."""

import numpy as np

from csdl_keras._utils.checks import check_integer, check_number
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.conversions import class_counts


def zero_one(num_classes: int) -> np.ndarray:
    """Returns the cost matrix `C[y, k] = [y != k]`, whose average cost is the error rate.

    Args:
        num_classes: `K`, at least 2 and at most 100,000.

    Returns:
        A float64 array of shape `(K, K)`.

    Example:

    >>> zero_one(2)
    array([[0., 1.],
           [1., 0.]])
    """
    return 1.0 - np.eye(check_integer("num_classes", num_classes, low=2, high=100_000))


def randomized_proportional(
    labels: ArrayLike,
    num_classes: int | None = None,
    scale: float = 10.0,
    seed: int | None = None,
) -> np.ndarray:
    """Draws a cost matrix in the randomized proportional setup.

    `C[y, k] ~ Uniform[0, scale * n_k / n_y]` for `k != y`, with `n_j` examples of class `j`.

    Args:
        labels: the training labels, integers of shape `(N,)`.
        num_classes: `K`; `None` (default) is the highest label plus 1.
        scale: upper end of the uniform distribution between two classes of the
            same size. Defaults to 10, as in the paper; other work uses 2000.
        seed: seed of `numpy.random.default_rng`; `None` (default) draws anew each time.

    Returns:
        A float64 array of shape `(K, K)`, `C[true, decision]`.

    References:
        - [Abe, Zadrozny, Langford: An iterative method for multi-class
          cost-sensitive learning, KDD 2004](https://doi.org/10.1145/1014052.1014056)

    Example:

    >>> randomized_proportional([0, 0, 1], seed=0).round(2)
    array([[0.  , 1.35],
           [0.82, 0.  ]])
    """
    # Costs stay within the range of float32, whatever the class counts.
    scale = check_number("scale", scale, low=0, high=1e30, exclude_low=True)
    _, counts = class_counts(labels, num_classes)
    size = check_integer("num_classes", len(counts), low=2)
    uniform = np.random.default_rng(seed).uniform(size=(size, size))
    cost_matrix = uniform * scale * counts[None, :] / counts[:, None]
    np.fill_diagonal(cost_matrix, 0.0)
    return cost_matrix
