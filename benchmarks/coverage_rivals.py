"""Other intervals and tests of a mean, for comparison with those of the package."""

import numpy as np
from scipy import stats

REPLICATES = 500


def resampled_means(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draws means of bootstrap samples."""
    different, counts = np.unique(values, return_counts=True)
    draws = rng.multinomial(len(values), counts / len(values), size=REPLICATES)
    return draws @ different / len(values)


def percentile(values: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """Computes the interval of the percentile bootstrap."""
    low, high = np.quantile(resampled_means(values, rng), [0.025, 0.975])
    return float(low), float(high)


def bias_corrected(values: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """Computes the interval of the bias-corrected and accelerated bootstrap (BCa)."""
    means, mean = resampled_means(values, rng), values.mean()
    share = (np.mean(means < mean) + np.mean(means == mean) / 2).clip(1e-3, 1 - 1e-3)
    shift = stats.norm.ppf(share)
    centred = values - mean
    spread = np.sum(centred**2)
    speed = np.sum(centred**3) / (6 * spread**1.5) if spread else 0.0
    deviates = shift + stats.norm.ppf([0.025, 0.975])
    shares = stats.norm.cdf(shift + deviates / (1 - speed * deviates))
    low, high = np.quantile(means, shares)
    return float(low), float(high)


def student(values: np.ndarray) -> tuple[float, float]:
    """Computes the interval by Student's t."""
    error = values.std(ddof=1) / len(values) ** 0.5
    half = stats.t.ppf(0.975, len(values) - 1) * error
    return float(values.mean() - half), float(values.mean() + half)


def bernstein(values: np.ndarray, low: float, high: float) -> tuple[float, float]:
    """Computes the empirical Bernstein interval (Maurer, Pontil) of values between two bounds."""
    size, term = len(values), np.log(4 / 0.05)
    half = np.sqrt(2 * values.var(ddof=1) * term / size)
    half += 7 * (high - low) * term / (3 * (size - 1))
    return max(low, float(values.mean() - half)), min(high, float(values.mean() + half))


def sign_flips(differences: np.ndarray, rng: np.random.Generator) -> float:
    """Computes the p-value of the permutation test that flips signs of differences."""
    unequal = differences[differences != 0]
    if not len(unequal):
        return 1.0
    signs = rng.integers(2, size=(REPLICATES, len(unequal))) * 2 - 1
    flipped, observed = signs @ unequal, unequal.sum()
    most = np.sum(np.abs(flipped) >= abs(observed) * (1 - 1e-12))
    return float((1 + most) / (REPLICATES + 1))


def joint_bootstrap(
    differences: np.ndarray, counts: np.ndarray, rng: np.random.Generator
) -> tuple[float, float]:
    """Computes the interval of a bootstrap over matrices and examples, see `joint_means`."""
    low, high = np.quantile(joint_means(differences, counts, rng), [0.025, 0.975])
    return float(low), float(high)


def joint_means(
    differences: np.ndarray, counts: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Computes means over resampled matrices and examples.

    Args:
        differences: `(M, N)`.
        counts: number of draws of each example, `(N, replicates)`.
        rng: generator that draws matrices.
    """
    matrices, size = differences.shape
    drawn = rng.multinomial(matrices, np.full(matrices, 1 / matrices), size=counts.shape[1])
    return np.einsum("rm,mr->r", drawn / matrices, differences @ counts / size)
