"""Two algorithms on one data set, for a claim of the paper."""

import dataclasses

from csdl_keras.experiments.reporting.difference import Difference


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The one that the paper holds to be cheaper, and the other.

    Args:
        data: title of the data set.
        first: title of the one that should be cheaper.
        second: title of the other.
        difference: cost of the first one less that of the second.
        paper_ratio: their ratio in the paper's Table 2, `None` where it has none.
    """

    data: str
    first: str
    second: str
    difference: Difference
    paper_ratio: float | None = None
