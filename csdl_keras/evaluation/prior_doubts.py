"""Reasons not to trust class frequencies that were estimated from unlabelled examples."""

import numpy as np

from csdl_keras.costs.priors import LEAST_PROBABILITY

# Largest p-value of a test that counts as a doubt.
_DOUBTFUL = 0.005
# Fewer examples of a class say too little about what its probabilities are like.
_FEW = 5


def uncertain(priors: np.ndarray, errors: np.ndarray, shares: np.ndarray) -> list[str]:
    """Returns a doubt if shares are not known to within their half, or a 20th of before."""
    wide = np.flatnonzero(errors > np.maximum(priors, shares / 10) / 2)
    if not len(wide):
        return []
    worst = ", ".join(f"{k} ({priors[k]:.3g} ± {errors[k]:.2g})" for k in wide[:3])
    more = f" and {len(wide) - 3} more" if len(wide) > 3 else ""
    return [
        f"The shares of classes {worst}{more} are uncertain by their standard errors: the "
        "examples are too few, or the probabilities do not tell these classes apart."
    ]


def uncalibrated(rows: np.ndarray, labels: np.ndarray) -> list[str]:
    """Returns a doubt if a temperature and biases would make the labels likelier.

    A score test at temperature 1 and biases 0, by the covariance of labels that are drawn from
    the probabilities.
    """
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


def unexplained(
    rows: np.ndarray,
    priors: np.ndarray,
    influence: np.ndarray,
    known: np.ndarray,
    labels: np.ndarray,
) -> list[str]:
    """Returns a doubt if no mixture of the classes of the reference looks like the examples.

    Compares the mean probabilities, and their mean entropy, with those of the classes of the
    reference in the estimated shares, which vary with the examples as well.
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
    """Returns probabilities of all classes but one, and their entropy, `(N, K)`."""
    entropy = -(rows * np.log(np.maximum(rows, LEAST_PROBABILITY))).sum(axis=1, keepdims=True)
    return np.hstack([rows[:, 1:], entropy])


def _wald(difference: np.ndarray, covariance: np.ndarray, number: float) -> float:
    """Returns the p-value of Wald's test that a difference is 0.

    Args:
        difference: `(J,)`.
        covariance: `(J, J)`, estimated from `number` examples, or known if that is infinite.
        number: the number of examples.
    """
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
