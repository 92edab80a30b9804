"""Estimates class frequencies from unlabelled examples, and says when not to trust that."""

import dataclasses
from typing import Any

import numpy as np

from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs import check_labels
from csdl_keras.costs.priors import LEAST_PROBABILITY, class_shares
from csdl_keras.evaluation.calibration_error import probabilities_by_class

_ITERATIONS = 10_000
# Largest p-value of a test that counts as a doubt.
_DOUBTFUL = 0.005
# Fewer examples of a class say too little about what its probabilities are like.
_FEW = 5


@dataclasses.dataclass(frozen=True)
class PriorEstimate:
    """Class frequencies that `estimate_priors` found.

    Args:
        priors: `(K,)` shares, which sum to 1.
        standard_errors: `(K,)` standard errors of the shares, at most 0.5.
        doubts: reasons not to trust the estimate; empty if none was found.
    """

    priors: np.ndarray
    standard_errors: np.ndarray
    doubts: tuple[str, ...]

    @property
    def trusted(self) -> bool:
        """True if every test was made and none speaks against the estimate."""
        return not self.doubts


def estimate_priors(
    probabilities: ArrayLike,
    from_priors: ArrayLike,
    reference: tuple[ArrayLike, ArrayLike] | None = None,
    classes: Any = None,
) -> PriorEstimate:
    """Estimates the class frequencies of unlabelled examples from a classifier's probabilities.

    The shares under which the examples are likeliest,
    `argmax_w sum_n ln sum_y w[y] P(y|x_n) / from_priors[y]`. They are right if the probabilities
    are calibrated, and examples of each class look as they did in training. `doubts` says what
    speaks against that: uncertain shares, and by a labelled `reference`, probabilities that are not
    calibrated or examples that no mixture of the classes explains. Each of these two tests doubts
    about 1 % of estimates for which all is right.

    Args:
        probabilities: `(N, K)` of the unlabelled examples, or `(N,)` or `(N, 1)` of class 1, not
            adjusted to other frequencies.
        from_priors: `(K,)` class frequencies of training, above 0, as shares or counts.
        reference: `(probabilities, labels)` of examples with the class frequencies of training
            that the classifier was neither trained nor calibrated on, such as test data.
            `None` (default) leaves the two tests out, which is itself a doubt.
        classes: the labels, or the model or estimator that has them, for series and data frames
            with names. Defaults to `None`.

    References:
        - [Saerens, Latinne, Decaestecker: Adjusting the outputs of a classifier to new a priori
          probabilities, Neural Computation 2002](https://doi.org/10.1162/089976602753284446)
        - [Lipton, Wang, Smola: Detecting and correcting for label shift with black box
          predictors, ICML 2018](https://proceedings.mlr.press/v80/lipton18a.html) (the mixture)

    Example:

    >>> rng = np.random.default_rng(0)
    >>> def classified(y):  # one feature, of mean 2 or 0
    ...     return 1 / (1 + np.exp(2 - 2 * rng.normal(2 * y)))
    >>> old, new = np.arange(1000) % 2, np.arange(1000) % 10 == 0
    >>> estimate = estimate_priors(classified(new), [1, 1], (classified(old), old))
    >>> estimate.priors.round(2), estimate.standard_errors.round(2), estimate.trusted
    (array([0.92, 0.08]), array([0.01, 0.01]), True)
    """
    # Sums do not depend on how a contiguous array lies in memory.
    rows = np.ascontiguousarray(probabilities_by_class(probabilities, classes=classes))
    shares = class_shares("from_priors", from_priors, rows.shape[1], classes=classes)
    likelihoods = np.maximum(rows, LEAST_PROBABILITY) / shares
    priors, converged = _likeliest(likelihoods, shares)
    influence, errors = _uncertainty(likelihoods, priors)
    doubts = [] if converged else [f"The estimate did not converge in {_ITERATIONS} iterations."]
    doubts += _uncertain(priors, errors, shares)
    if reference is None:
        doubts.append(
            "Without a labelled `reference` it was not tested whether the probabilities are "
            "calibrated and only class frequencies changed."
        )
    else:
        known = np.ascontiguousarray(probabilities_by_class(reference[0], classes=classes))
        labels = check_labels(reference[1], len(shares), classes)
        if known.shape != (len(labels), len(shares)):
            raise ValueError(
                f"Expected `reference` with probabilities of {len(shares)} classes for each of "
                f"{len(labels)} labels; received shape {known.shape}."
            )
        doubts += _uncalibrated(known, labels)
        doubts += _unexplained(rows, priors, influence, known, labels)
    return PriorEstimate(priors, errors, tuple(doubts))


def _likeliest(likelihoods: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, bool]:
    """Returns the shares of highest likelihood, and whether they were found."""
    priors = start
    for _ in range(_ITERATIONS):
        gains = (likelihoods / (likelihoods @ priors)[:, None]).mean(axis=0)
        # The logarithm is concave, so that this bounds by how much the likelihood can grow.
        if len(likelihoods) * (gains.max() - 1.0) < 1e-3:
            return priors, True
        priors = priors * gains
        priors = priors / priors.sum()
    return priors, False


def _uncertainty(likelihoods: np.ndarray, priors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns how much each example moves the estimated shares, `(N, K)`, and standard errors.

    By the observed information in the directions in which shares sum to 1.
    """
    scores = likelihoods / (likelihoods @ priors)[:, None]
    directions = np.linalg.svd(np.ones((1, len(priors))))[2][1:].T
    along = scores @ directions
    values, vectors = np.linalg.eigh(along.T @ along)
    values = np.maximum(values, max(1e-12 * values[-1], 1e-12))
    turned = directions @ vectors
    errors = np.minimum(np.sqrt((turned**2 / values).sum(axis=1)), 0.5)
    return (along @ vectors / values) @ turned.T, errors


def _uncertain(priors: np.ndarray, errors: np.ndarray, shares: np.ndarray) -> list[str]:
    """Returns a doubt if shares are not known to within their half, or a 20th of before."""
    wide = np.flatnonzero(errors > np.maximum(priors, shares / 10) / 2)
    if not len(wide):
        return []
    shown = ", ".join(f"{k} ({priors[k]:.3g} ± {errors[k]:.2g})" for k in wide[:3])
    return [
        f"The shares of {len(wide)} classes, such as {shown}, are uncertain by their standard "
        "errors: the examples are too few, or the probabilities do not tell these classes apart."
    ]


def _uncalibrated(rows: np.ndarray, labels: np.ndarray) -> list[str]:
    """Returns a doubt if a temperature and biases would make the labels likelier: a score test."""
    expected = rows.sum(axis=0)
    errors = rows - np.eye(rows.shape[1])[labels]
    logs = np.log(np.maximum(rows, LEAST_PROBABILITY))
    common = np.flatnonzero(np.minimum(expected, len(rows) - expected) >= _FEW)
    score = np.append(errors.sum(axis=0)[common], (errors * logs).sum())
    mean_logs = (rows * logs).sum(axis=1, keepdims=True)
    centred = rows * (logs - mean_logs)
    covariance = np.zeros((len(score), len(score)))
    covariance[:-1, :-1] = np.diag(expected[common]) - rows[:, common].T @ rows[:, common]
    covariance[-1, :-1] = covariance[:-1, -1] = centred.sum(axis=0)[common]
    covariance[-1, -1] = (centred * logs).sum()
    p_value = _wald(score, covariance, np.inf)
    if p_value >= _DOUBTFUL:
        return []
    return [
        f"The probabilities are not calibrated on `reference` (p = {p_value:.2g}); "
        "`csdl_keras.calibrate` them first."
    ]


def _unexplained(
    rows: np.ndarray,
    priors: np.ndarray,
    influence: np.ndarray,
    known: np.ndarray,
    labels: np.ndarray,
) -> list[str]:
    """Returns a doubt if no mixture of the classes of the reference looks like the examples.

    Compares mean probabilities and entropy with those of the classes in the estimated shares.
    """
    counts = np.bincount(labels, minlength=len(priors))
    least, number = int(counts.argmin()), min(len(rows), len(known))
    if counts[least] < _FEW or number < 2 * len(priors):
        return [
            f"{len(rows)} examples, and {len(known)} of `reference` with {counts[least]} of class "
            f"{least}, are too few to test whether only class frequencies changed."
        ]
    found, expected = _features(rows), _features(known)
    means = np.array([expected[labels == k].mean(axis=0) for k in range(len(priors))])
    difference = found.mean(axis=0) - priors @ means
    parts = (found - found.mean(axis=0)) / len(found) - influence @ means
    weights = (priors / np.sqrt(counts * (counts - 1)))[labels][:, None]
    others = weights * (expected - means[labels])
    covariance = parts.T @ parts + others.T @ others
    # Where classes are told apart well, differences rest on a few examples in between, and are
    # far smaller than what the examples' number leaves uncertain.
    covariance += np.diag(found.var(axis=0) / len(found) / 16)
    p_value = _wald(difference, covariance, number)
    if p_value >= _DOUBTFUL:
        return []
    return [
        "No mixture of the classes of `reference` looks like the examples "
        f"(p = {p_value:.2g}): more than class frequencies changed."
    ]


def _features(rows: np.ndarray) -> np.ndarray:
    entropy = -(rows * np.log(np.maximum(rows, LEAST_PROBABILITY))).sum(axis=1, keepdims=True)
    return np.hstack([rows[:, 1:], entropy])


def _wald(difference: np.ndarray, covariance: np.ndarray, number: float) -> float:
    """Returns the p-value of Wald's test, of a covariance that `number` examples gave, or all."""
    from scipy.stats import chi2, f  # slow to import

    scale = np.sqrt(np.maximum(np.diagonal(covariance), 1e-300))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    kept = values > 1e-9
    statistic = float((((difference / scale) @ vectors)[kept] ** 2 / values[kept]).sum())
    size = int(kept.sum())
    if size == 0:  # All examples have the same probabilities.
        return 1.0
    if number == np.inf:
        return float(chi2.sf(statistic, size))
    return float(f.sf(statistic * (number - size) / (size * (number - 1)), size, number - size))
