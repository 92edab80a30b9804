"""Results of a comparison, averaged over cost matrices."""

import dataclasses

import numpy as np

from csdl_keras.experiments.results import Result


@dataclasses.dataclass(frozen=True)
class Summary:
    """An algorithm over all its cost matrices.

    Args:
        algorithm: name of the algorithm.
        matrices: number of cost matrices.
        average_cost: mean over matrices.
        standard_error: of that mean, NaN for a single matrix.
        error_rate: mean over matrices.
        train_seconds: mean over matrices.
    """

    algorithm: str
    matrices: int
    average_cost: float
    standard_error: float
    error_rate: float
    train_seconds: float


def summarise(results: list[Result]) -> list[Summary]:
    """One `Summary` for each algorithm, the lowest average cost first.

    Those with fewer cost matrices than others, as after an interruption, come last: a mean
    over fewer of them may be low by the choice of matrices.
    """
    summaries = []
    for name in dict.fromkeys(result.algorithm for result in results):
        rows = [result for result in results if result.algorithm == name]
        costs = np.array([row.average_cost for row in rows])
        error = costs.std(ddof=1) / np.sqrt(len(costs)) if len(costs) > 1 else np.nan
        summaries.append(
            Summary(
                algorithm=name,
                matrices=len(rows),
                average_cost=float(costs.mean()),
                standard_error=float(error),
                error_rate=float(np.mean([row.error_rate for row in rows])),
                train_seconds=float(np.mean([row.train_seconds for row in rows])),
            )
        )
    return sorted(summaries, key=lambda summary: (-summary.matrices, summary.average_cost))
