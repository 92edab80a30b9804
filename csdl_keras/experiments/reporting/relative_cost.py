"""One algorithm's cost in units of the lowest."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class RelativeCost:
    """A row of the figure of costs.

    Args:
        title: of the algorithm.
        series: `"blind"`, `"baseline"`, `"Bayes"` or `"SOSR"`.
        ours: our cost divided by our lowest, NaN where it was not run.
        paper: the paper's cost divided by its lowest, NaN where it has none.
        bold: whether ours is the lowest or tied with it.
    """

    title: str
    series: str
    ours: float
    paper: float
    bold: bool
