"""Fits the temperature, and biases, under which labels are most likely."""

import numpy as np

from csdl_keras.layers.probabilities import SMALLEST_PROBABILITY


def fit_temperature(
    probabilities: np.ndarray,
    labels: np.ndarray,
    with_bias: bool = False,
    spread: float | None = 1.0,
    sample_weight: np.ndarray | None = None,
) -> tuple[float, np.ndarray]:
    """Fits the temperature and biases under which the labels are most likely.

    Args:
        probabilities: `(N, K)`.
        labels: integers `(N,)`.
        with_bias: whether to fit biases; otherwise they are zeros.
        spread: standard deviation of the priors, or `None` for none.
        sample_weight: weights `(N,)`, not all 0; `None` is 1 for each. They are divided by
            their mean, so that the priors weigh as much as without.

    Returns:
        `(temperature, bias)`.
    """
    from scipy.optimize import minimize  # slow to import

    logs = np.log(np.maximum(np.asarray(probabilities, "float64"), SMALLEST_PROBABILITY))
    size, classes = logs.shape
    rows = np.arange(size)
    shares = np.full(size, 1 / size)
    if sample_weight is not None:
        shares = sample_weight / np.sum(sample_weight)

    def likelihood(values: np.ndarray) -> tuple[float, np.ndarray]:
        sharpness, bias = np.exp(-values[0]), values[1:] if with_bias else 0.0
        scores = logs * sharpness + bias
        scores -= scores.max(axis=1, keepdims=True)
        weights = np.exp(scores)
        total = weights.sum(axis=1)
        loss = shares @ (np.log(total) - scores[rows, labels])
        error = weights / total[:, None]
        error[rows, labels] -= 1.0
        gradient = np.zeros_like(values)
        gradient[0] = -sharpness * (shares @ np.sum(error * logs, axis=1))
        if with_bias:
            gradient[1:] = shares @ error
        loss += 0.5 * weight * np.sum(values**2) / size
        return loss, gradient + weight * values / size

    weight = 0.0 if spread is None else 1.0 / spread**2
    # Exponentials could overflow with larger values, which no data need.
    bounds = [(-20.0, 20.0)] + [(None, None)] * (classes * with_bias)
    start = np.zeros(len(bounds))
    # Where classes are separable, the likelihood is so flat that the default tolerances stop early.
    options = {"ftol": 0.0, "gtol": 1e-10}
    found = minimize(
        likelihood, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    ).x
    return float(np.exp(found[0])), found[1:] if with_bias else np.zeros(classes)
