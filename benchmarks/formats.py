"""Formats tables and mean ratios in Markdown."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats


def markdown_table(head: Sequence[str], body: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    """Returns the lines of a table, whose first `left` columns are aligned to the left."""
    rules = ["---"] * left + ["---:"] * (len(head) - left)
    return ["| " + " | ".join(cells) + " |" for cells in (head, rules, *body)]


class MeanRatio(NamedTuple):
    """Geometric mean of paired ratios with its 95 % interval, by Student's t on logarithms.

    Args:
        value: the mean.
        low: lower end of the interval; NaN for a single pair.
        high: upper end of the interval; NaN for a single pair.
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, costs: Sequence[float] | np.ndarray, others: Sequence[float] | np.ndarray):
        """Computes the mean ratio of costs to others, both `(N,)`, N at least 1."""
        logs = np.log(np.asarray(costs, float) / np.asarray(others, float))
        half = np.nan
        if len(logs) > 1:
            half = stats.t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / len(logs) ** 0.5
        return cls(*(float(np.exp(logs.mean() + shift)) for shift in (0.0, -half, half)))

    def text(self, unit: str = "") -> str:
        """Returns the mean followed by `unit`, and the interval if there are several pairs."""
        high = "over 1,000" if self.high >= 1000 else f"{self.high:.2f}"
        interval = "" if np.isnan(self.low) else f" ({self.low:.2f}–{high})"
        return f"{self.value:.2f}{unit}{interval}"
