"""Other intervals and tests of a mean, for comparison with those of the package."""

import numpy as np
from scipy import optimize, stats

REPLICATES = 500
#: Of each bootstrap of heavy-tailed amounts.
RESAMPLES = 200
Interval = tuple[float, float] | np.ndarray


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
    return corrected(values, resampled_means(values, rng))


def corrected(values: np.ndarray, means: np.ndarray) -> tuple[float, float]:
    """Computes the interval of BCa from the means of bootstrap samples."""
    mean = values.mean()
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


def skew_corrected(values: np.ndarray) -> dict[str, Interval]:
    """Computes Johnson's interval, and inverts Chen's test `t + a (1 + 2 t²) + 4 a² (t + 2 t³)`."""
    low, high = student(values)
    skew, size = stats.skew(values), len(values)
    moved, a = skew * values.std() / (6 * size), skew / (6 * size**0.5)

    def end(quantile: float) -> float:
        roots = np.roots([8 * a**2, 2 * a, 1 + 4 * a**2, a - quantile])
        t = float(roots[np.argmin(abs(roots.imag))].real)
        return float(values.mean() - t * values.std(ddof=1) / size**0.5)

    most = stats.t.ppf(0.975, size - 1)
    return {"Johnson's t": (low + moved, high + moved), "Chen's t": (end(most), end(-most))}


def studentised(drawn: np.ndarray, mean: float) -> tuple[np.ndarray, np.ndarray]:
    """Computes Student's t and the skewness of each sample; 0 where all values are equal."""
    centred, size = drawn - drawn.mean(axis=1, keepdims=True), drawn.shape[1]
    spread = np.einsum("rn,rn->r", centred, centred) / size
    third = np.einsum("rn,rn,rn->r", centred, centred, centred) / size
    few, positive = np.zeros(len(drawn)), spread > 0
    t = np.divide(drawn.mean(axis=1) - mean, (spread / size) ** 0.5, out=few, where=positive)
    return t, np.divide(third, spread**1.5, out=0.0 * few, where=positive)


def bootstraps(values: np.ndarray, rng: np.random.Generator) -> dict[str, Interval]:
    """Computes the intervals of several bootstraps."""
    size, mean, error = len(values), values.mean(), values.std() / len(values) ** 0.5
    drawn = values[rng.integers(size, size=(RESAMPLES, size))]
    means, (t, skews) = drawn.mean(axis=1), studentised(drawn, mean)
    found = {
        "percentile bootstrap": np.quantile(means, [0.025, 0.975]),
        "BCa bootstrap": corrected(values, means),
        "bootstrap-t": mean - np.quantile(t, [0.975, 0.025]) * error,
    }
    # Hall's transformation takes the skewness off t.
    a, own = stats.skew(values) / size**0.5, skews / size**0.5
    ends = np.quantile(t + own * t**2 / 3 + own**2 * t**3 / 27 + own / 6, [0.975, 0.025])
    back = 3 * (np.cbrt(1 + a * (ends - a / 6)) - 1) / a if a else ends
    found["Hall's transformation"] = mean - back * error
    few = values[rng.integers(size, size=(RESAMPLES, max(5, round(size ** (2 / 3)))))]
    ends = np.quantile(studentised(few, mean)[0], [0.975, 0.025])
    return found | {"m-out-of-n bootstrap-t": mean - ends * error}


def empirical_likelihood(values: np.ndarray) -> Interval:
    """Computes Owen's interval, whose ends have weights in proportion to `1 / (c - x)`."""

    def high_end(x: np.ndarray) -> float:
        def weights(log_gap: float) -> np.ndarray:
            inverse = 1.0 / (np.exp(log_gap) + (x.max() - x))
            return inverse / inverse.sum()

        def excess(log_gap: float) -> float:
            return -2 * np.log(len(x) * weights(log_gap)).sum() - stats.chi2.ppf(0.95, 1)

        return float(weights(optimize.brentq(excess, -60.0, 30.0)) @ x)

    scale = np.ptp(values)
    return -high_end(-values / scale) * scale, high_end(values / scale) * scale


def of_lognormal(values: np.ndarray, rng: np.random.Generator) -> dict[str, Interval]:
    """Computes Cox' and the generalised interval of a log-normal mean, with a share of zeros."""
    logs, draws = np.log(values[values > 0]), 2000
    count, zeros = len(logs), len(values) - len(logs)
    if count < 2:
        return dict.fromkeys(("log-normal, Cox", "log-normal, generalised"), (0.0, np.inf))
    spread, share = logs.var(ddof=1), count / len(values)
    variance = (1 - share + spread) / count + spread**2 / (2 * (count - 1))
    middle = np.log(share) + logs.mean() + spread / 2
    cox = np.exp(middle + stats.norm.ppf([0.025, 0.975]) * variance**0.5)
    spreads = (count - 1) * spread / rng.chisquare(count - 1, draws)
    drawn = logs.mean() + rng.normal(size=draws) * (spreads / count) ** 0.5 + spreads / 2
    shares = rng.beta(count + 0.5, zeros + 0.5, draws) if zeros else 1.0
    low, high = np.exp(np.minimum(np.quantile(np.log(shares) + drawn, [0.025, 0.975]), 700.0))
    return {"log-normal, Cox": (cox[0], cox[1]), "log-normal, generalised": (low, high)}


def robust(values: np.ndarray, rng: np.random.Generator) -> dict[str, Interval]:
    """Takes the extremes of six parts' means, and Catoni's interval with the sample's variance."""
    means = [part.mean() for part in np.array_split(rng.permutation(values), 6)]
    term, variance = np.log(2 / 0.05), values.var(ddof=1)
    scale = (2 * term / (len(values) * variance)) ** 0.5

    def end(sign: float) -> float:
        def excess(mean: float) -> float:
            x = scale * (values - mean)
            influence = np.sign(x) * np.log1p(abs(x) + x**2 / 2)
            return float(influence.sum() + 2 * sign * term)

        reach = np.ptp(values) + 9 / scale
        return float(optimize.brentq(excess, values.min() - reach, values.max() + reach))

    return {"median of means": (min(means), max(means)), "Catoni": (end(-1.0), end(1.0))}


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
