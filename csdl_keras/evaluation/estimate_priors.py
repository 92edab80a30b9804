"""Estimates class frequencies from unlabelled examples."""

import dataclasses
from typing import Any

import numpy as np

from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.priors import LEAST_PROBABILITY, class_shares
from csdl_keras.evaluation.calibration_error import probabilities_by_class


@dataclasses.dataclass(frozen=True)
class PriorEstimate:
    """Class frequencies that `estimate_priors` found.

    Args:
        priors: `(K,)` shares, which sum to 1.
        standard_errors: `(K,)` standard errors of the shares, at most 0.5. They are large if there
            are few examples, or if the probabilities do not distinguish classes.
    """

    priors: np.ndarray
    standard_errors: np.ndarray


def estimate_priors(
    probabilities: ArrayLike, from_priors: ArrayLike, classes: Any = None
) -> PriorEstimate:
    """Estimates the class frequencies of unlabelled examples from a classifier's probabilities.

    The estimates are the shares `w` under which the examples are most likely, where
    `sum_n ln sum_y w[y] P(y|x_n) / from_priors[y]` is largest. They are consistent if the
    probabilities are calibrated and the examples of each class look as they did in training.

    Args:
        probabilities: unadjusted, `(N, K)` of unlabelled examples, or `(N,)`, `(N, 1)` of class 1.
        from_priors: `(K,)` class frequencies of training, above 0, as shares or counts.
        classes: labels, or a model or estimator, that order named arguments. Defaults to `None`.

    Returns:
        A `PriorEstimate`.

    References:
        - [Saerens, Latinne, Decaestecker: Adjusting the outputs of a classifier to new a priori
          probabilities, Neural Computation 2002](https://doi.org/10.1162/089976602753284446)

    Example:

    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(1000) % 10 == 0  # one feature, of mean 2 or 0
    >>> estimate = estimate_priors(1 / (1 + np.exp(2 - 2 * rng.normal(2 * y))), [1, 1])
    >>> estimate.priors.round(2), estimate.standard_errors.round(2)
    (array([0.92, 0.08]), array([0.01, 0.01]))
    """
    # With a contiguous array, sums do not depend on the memory layout.
    rows = np.ascontiguousarray(probabilities_by_class(probabilities, classes=classes))
    shares = class_shares("from_priors", from_priors, rows.shape[1], classes=classes)
    likelihoods = np.maximum(rows, LEAST_PROBABILITY) / shares
    priors = shares
    for _ in range(10_000):
        gains = (likelihoods / (likelihoods @ priors)[:, None]).mean(axis=0)
        # The logarithm is concave, so that this bounds how much the likelihood can grow.
        if len(rows) * (gains.max() - 1.0) < 1e-3:
            break
        priors = priors * gains
        priors = priors / priors.sum()
    # Standard errors follow from the information in the directions in which shares sum to 1.
    scores = likelihoods / (likelihoods @ priors)[:, None]
    directions = np.linalg.svd(np.ones((1, len(priors))))[2][1:].T
    along = scores @ directions
    values, vectors = np.linalg.eigh(along.T @ along)
    values = np.maximum(values, max(1e-12 * values[-1], 1e-12))
    errors = np.sqrt(((directions @ vectors) ** 2 / values).sum(axis=1))
    return PriorEstimate(priors, np.minimum(errors, 0.5))
