"""Computes a confidence interval and a test for a bounded mean, valid for small samples."""

import math

import numpy as np
import scipy

from csdl_keras._utils.checks import check_number

#: Beyond this number of distinct values, similar ones are merged to save time.
_MOST_VALUES = 5000


class BoundedMean:
    """Estimates the mean of independent values between two known bounds, by Gaffke's method.

    The upper end of the interval is a quantile of `sum_i D_i x_i + D_0 high`, where `D` is uniform
    on the simplex: the Bayesian bootstrap with one more value at the upper bound, for values that
    exist but were not observed. The lower end uses one at the lower bound. If every value equals a
    bound, this is the Clopper-Pearson interval.

    References:
        - Gaffke: Three test statistics for a nonparametric one-sided hypothesis on
          the mean of a nonnegative variable, Mathematical Methods of Statistics 2005
        - [Learned-Miller, Thomas: A new confidence interval for the mean of a
          bounded random variable, 2019](https://arxiv.org/abs/1905.06208)
    """

    def __init__(self, values: np.ndarray, low: float, high: float):
        # Values are in units of the larger bound, so that no sum overflows.
        self._unit = max(abs(low), abs(high)) or 1.0
        self._low, self._high = low / self._unit, high / self._unit
        self._values, counts = np.unique(values / self._unit, return_counts=True)
        self._counts = counts.astype(np.float64)
        if len(self._values) > _MOST_VALUES:
            self._merge()

    def _merge(self) -> None:
        """Replaces values whose distances from the mean differ by at most 1 % by their average."""
        distances = self._values - np.average(self._values, weights=self._counts)
        scale = np.log(np.maximum(abs(distances), 1e-9 * abs(distances).max()))
        alike = np.stack([np.sign(distances), np.round(scale / 0.01)])
        places = np.unique(alike, axis=1, return_inverse=True)[1]
        totals = np.bincount(places, self._counts * self._values)
        self._counts = np.bincount(places, self._counts).astype(np.float64)
        self._values = totals / self._counts

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Returns the ends `(low, high)` of the means that `p_value` does not reject."""
        check_number("confidence", confidence, 0, 1, exclude_low=True)
        share = (1.0 - confidence) / 2.0
        low = -_upper_end(-self._values, self._counts, -self._low, share)
        return float(low * self._unit), self.upper(1.0 - share)

    def upper(self, confidence: float) -> float:
        """Returns the lowest mean that the one-sided test `p_value_below` rejects."""
        end = _upper_end(self._values, self._counts, self._high, 1.0 - confidence)
        return float(end * self._unit)

    def p_value_below(self, mean: float) -> float:
        """Returns the p-value of the hypothesis that the expected value is `mean` or higher."""
        return _share_above(self._values, self._counts, self._high, mean / self._unit)

    def p_value(self, mean: float) -> float:
        """Returns the two-sided p-value of the hypothesis that the expected value is `mean`."""
        above = self.p_value_below(mean)
        below = _share_above(-self._values, self._counts, -self._low, -mean / self._unit)
        return float(min(1.0, 2.0 * min(above, below)))


def _upper_end(values: np.ndarray, counts: np.ndarray, bound: float, share: float) -> float:
    """Finds the mean at which `_share_above` falls to `share`."""
    if values.min() >= bound:
        return bound

    def excess(mean: float) -> float:
        return _share_above(values, counts, bound, mean) - share

    least = values.min()
    return float(scipy.optimize.brentq(excess, least, bound, xtol=1e-12 * (bound - least)))


def _share_above(values: np.ndarray, counts: np.ndarray, bound: float, mean: float) -> float:
    """Returns the probability that the resampled mean, with one more value `bound`, reaches `mean`.

    The weights are Gamma variables over their sum, so this is the probability of `Q = sum_i G_i a_i
    >= 0` with `a = x - mean`: the integral of `exp(K(s)) / s`, `K(s) = -sum_i n_i log(1 - a_i s)`,
    along `s = c + iu` through the point `c` of the real axis at which the integrand is smallest.
    """
    slopes, counts = np.append(values, bound) - mean, np.append(counts, 1.0)
    largest = slopes.max()
    if slopes.min() >= 0.0:
        return 1.0
    # The quotient of largest and smallest slope would underflow.
    if largest <= -1e-290 * slopes.min():
        return 0.0
    slopes /= largest

    def growth(point: float) -> float:
        return float(counts @ (slopes / (1.0 - slopes * point)) - 1.0 / point)

    smallest = 1e-12 / counts.sum()
    point = scipy.optimize.brentq(growth, smallest, 1.0 - 1e-12, xtol=1e-16, rtol=1e-3)
    turned = slopes / (1.0 - slopes * point)
    height = -counts @ np.log1p(-slopes * point) - math.log(point)
    width = 1.0 / math.sqrt(counts @ turned**2 + 1.0 / point**2)
    # The error of the trapezoidal rule in v, u = width sinh(v), falls exponentially. With many
    # distinct values the integrand is almost a Gaussian's, which needs fewer points.
    step, block = (1 / 64, 64) if len(slopes) < 300 else (1 / 16, 16)
    total, start = 0.0, 0
    while True:
        v = step * np.arange(start, start + block)
        u = width * np.sinh(v)
        angles = np.outer(u, turned)
        phase = np.arctan(angles) @ counts - np.arctan(u / point)
        logs = -0.5 * (np.log1p(angles**2) @ counts + np.log1p((u / point) ** 2))
        logs += np.log(np.cosh(v))
        terms = np.exp(logs) * np.cos(phase)
        total += terms.sum() - (terms[0] / 2.0 if start == 0 else 0.0)
        if logs[-1] < -36.0:
            return min(1.0, max(0.0, math.exp(height) * total * step * width / math.pi))
        start += block
