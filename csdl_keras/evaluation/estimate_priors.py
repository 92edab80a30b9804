"""Estimates class frequencies from unlabelled examples, and says when not to trust that."""

import dataclasses
from typing import Any

import numpy as np

from csdl_keras._utils.arrays import check_rows
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs import check_labels
from csdl_keras.costs.priors import LEAST_PROBABILITY, class_shares
from csdl_keras.evaluation.calibration_error import probabilities_by_class
from csdl_keras.evaluation.prior_doubts import uncalibrated, uncertain, unexplained

_ITERATIONS = 10_000


@dataclasses.dataclass(frozen=True)
class PriorEstimate:
    """Class frequencies that `estimate_priors` found.

    Args:
        priors: `(K,)` shares, which sum to 1.
        standard_errors: `(K,)` standard errors of the shares, at most 0.5. They depend on the
            number of examples and on how well the probabilities tell the classes apart.
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
    `argmax_w sum_n ln sum_y w[y] P(y|x_n) / from_priors[y]`, by expectation maximisation. It is
    right if the probabilities are calibrated, and if examples of each class look as they did in
    training. `doubts` of the result says what speaks against it: shares that remain uncertain,
    because examples are few or the classes are not told apart; and by a labelled `reference`,
    probabilities that are not calibrated, or examples that no mixture of the classes explains.
    Each of these two tests doubts about 1 % of estimates for which all is right. With very many
    examples they also find faults that are too small to matter.

    Args:
        probabilities: `(N, K)` of the unlabelled examples, or `(N,)` or `(N, 1)` of class 1, not
            adjusted to other frequencies.
        from_priors: `(K,)` class frequencies of training, above 0, as shares or counts.
        reference: `(probabilities, labels)` of examples with the class frequencies of training
            that the classifier was neither trained nor calibrated on, such as test data.
            `None` (default) leaves the two tests out, which is itself a doubt.
        classes: the labels, or the model or estimator that has them, which decide the order of
            series and data frames with names. Defaults to `None`.

    Returns:
        A `PriorEstimate`.

    Raises:
        ValueError: if an argument fails its check.

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
    rows = _rows("probabilities", probabilities, classes)
    shares = class_shares("from_priors", from_priors, rows.shape[1], classes=classes)
    labelled = None if reference is None else _check_reference(reference, len(shares), classes)
    likelihoods = np.maximum(rows, LEAST_PROBABILITY) / shares
    priors, converged = _likeliest(likelihoods, shares)
    influence, errors = _uncertainty(likelihoods, priors)
    doubts = [] if converged else [f"The estimate did not converge in {_ITERATIONS} iterations."]
    doubts += uncertain(priors, errors, shares)
    if labelled is None:
        doubts.append(
            "Without a labelled `reference` it was not tested whether the probabilities are "
            "calibrated and only class frequencies changed."
        )
    else:
        doubts += uncalibrated(*labelled)
        doubts += unexplained(rows, priors, influence, *labelled)
    return PriorEstimate(priors, errors, tuple(doubts))


def _rows(name: str, probabilities: ArrayLike, classes: Any) -> np.ndarray:
    """Returns probabilities as `(N, K)`, also from those of class 1 alone."""
    # Sums do not depend on how the array lies in memory then.
    return np.ascontiguousarray(probabilities_by_class(probabilities, name=name, classes=classes))


def _check_reference(
    reference: tuple[ArrayLike, ArrayLike], num_classes: int, classes: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Returns probabilities and labels of the reference."""
    if not isinstance(reference, (tuple, list)) or len(reference) != 2:
        raise ValueError(
            "Expected `reference` to be a tuple (probabilities, labels) or None; received "
            f"{type(reference).__name__}."
        )
    rows = _rows("reference", reference[0], classes)
    if rows.shape[1] != num_classes:
        raise ValueError(
            f"Expected `reference` with probabilities of {num_classes} classes; received shape "
            f"{rows.shape}."
        )
    labels = check_labels(reference[1], num_classes, classes)
    check_rows("reference", rows, len(labels))
    return rows, labels


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

    By the observed information in the directions in which shares sum to 1. Directions that
    the probabilities do not show at all have the largest standard error that a share can have.
    """
    scores = likelihoods / (likelihoods @ priors)[:, None]
    directions = np.linalg.svd(np.ones((1, len(priors))))[2][1:].T
    along = scores @ directions
    values, vectors = np.linalg.eigh(along.T @ along)
    values = np.maximum(values, max(1e-12 * values[-1], 1e-12))
    turned = directions @ vectors
    errors = np.minimum(np.sqrt((turned**2 / values).sum(axis=1)), 0.5)
    return (along @ vectors / values) @ turned.T, errors
