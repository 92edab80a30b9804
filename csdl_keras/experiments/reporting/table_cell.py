"""One algorithm on one data set."""

import dataclasses

from csdl_keras.experiments.reporting.paper_figure import PaperFigure


@dataclasses.dataclass(frozen=True)
class TableCell:
    """Our figures and the paper's.

    Args:
        matrices: number of cost matrices, 0 where it was not run.
        diverged: of how many of these training diverged.
        cost: mean of the average test cost over matrices, infinite if one diverged.
        standard_error: of that mean over matrices, NaN for a single one or if one diverged.
        validation_cost: mean of the average validation cost.
        best: whether it is the cheapest of its data set.
        tied: whether it is not significantly costlier than the best; `None`
            where that is not known.
        paper: what the paper reports, `None` where it reports nothing.
    """

    matrices: int
    diverged: int = 0
    cost: float = float("nan")
    standard_error: float = float("nan")
    validation_cost: float = float("nan")
    best: bool = False
    tied: bool | None = None
    paper: PaperFigure | None = None

    @property
    def bold(self) -> bool:
        """Whether it is the best or tied with it."""
        return self.best or bool(self.tied)
