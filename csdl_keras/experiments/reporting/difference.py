"""How much less or more one algorithm costs than another."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Difference:
    """Mean cost of one algorithm less that of another, on the same matrices and examples.

    Args:
        mean: the difference; negative where the first one is cheaper.
        low: lower end of its 95 % interval.
        high: upper end.
        ratio: cost of the first one, divided by the other's; NaN if that is 0.
        matrices: number of cost matrices. With a single one the interval is of that
            matrix and says nothing of others.

    Example:

    >>> difference = Difference(-0.2, low=-0.3, high=-0.1, ratio=0.8, matrices=5)
    >>> difference.cheaper, difference.costlier, difference.tied
    (True, False, False)
    """

    mean: float
    low: float
    high: float
    ratio: float
    matrices: int

    @property
    def cheaper(self) -> bool:
        """Whether the whole interval lies below 0."""
        return self.high < 0

    @property
    def costlier(self) -> bool:
        """Whether the whole interval lies above 0."""
        return self.low > 0

    @property
    def tied(self) -> bool:
        """Whether the interval holds 0."""
        return self.low <= 0 <= self.high
