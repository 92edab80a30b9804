"""Results of a comparison, averaged over cost matrices."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from csdl_keras.experiments.saving import Saving

if TYPE_CHECKING:
    from csdl_keras.experiments.comparison import ComparedResult

#: Fewer matrices show their range: the standard error of two is half their distance.
LEAST_FOR_ERROR = 3


@dataclasses.dataclass(frozen=True)
class Summary:
    """The results of an algorithm, averaged over cost matrices.

    Args:
        algorithm: name of the algorithm.
        effort: the effort of its training.
        matrices: number of cost matrices.
        average_cost: mean over matrices.
        standard_error: standard error of that mean, NaN for less than `LEAST_FOR_ERROR` matrices.
        lowest: the lowest average cost over test examples of a matrix.
        highest: the highest one.
        error_rate: mean over matrices.
        train_seconds: mean over matrices.
        saving: mean over matrices.
    """

    algorithm: str
    effort: str
    matrices: int
    average_cost: float
    standard_error: float
    lowest: float
    highest: float
    error_rate: float
    train_seconds: float
    saving: Saving

    @property
    def spread(self) -> str:
        """The standard error, or the range over few matrices, as it stands behind the mean."""
        if np.isfinite(self.standard_error):
            return f" ± {self.standard_error:.3f}"
        return f" ({self.lowest:.3f}–{self.highest:.3f})" if self.matrices > 1 else ""


def spread_caption(matrices: int) -> str:
    """Returns what averages and the spread behind them are, for a number of matrices."""
    if matrices == 1:
        return "mean over test examples"
    spread = " ± standard error" if matrices >= LEAST_FOR_ERROR else " and range"
    return f"mean{spread} over {matrices} cost matrices"


def summarise(results: Sequence["ComparedResult"]) -> list[Summary]:
    """Returns one `Summary` for each algorithm, the lowest average cost first.

    Algorithms with fewer cost matrices than others, as after an interruption, come last: a
    mean over fewer of them may be low by the choice of matrices.
    """
    summaries = []
    for name in dict.fromkeys(result.algorithm for result in results):
        own = [result for result in results if result.algorithm == name]
        costs = np.array([result.average_cost for result in own])
        enough = len(costs) >= LEAST_FOR_ERROR
        error = costs.std(ddof=1) / np.sqrt(len(costs)) if enough else np.nan
        summaries.append(
            Summary(
                algorithm=name,
                effort=own[0].effort,
                matrices=len(own),
                average_cost=float(costs.mean()),
                standard_error=float(error),
                lowest=float(costs.min()),
                highest=float(costs.max()),
                error_rate=float(np.mean([result.error_rate for result in own])),
                train_seconds=float(np.mean([result.train_seconds for result in own])),
                saving=Saving.mean(own),
            )
        )
    return sorted(summaries, key=lambda summary: (-summary.matrices, summary.average_cost))
