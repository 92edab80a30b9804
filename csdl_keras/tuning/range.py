"""A range of numbers to search."""

import dataclasses
import numbers

from csdl_keras._checks import check_choice, check_number


@dataclasses.dataclass(frozen=True)
class Range:
    """All numbers from `low` to `high`, both included, to search in.

    Whole numbers if both ends (and the step) are integers.

    Args:
        low: the smallest.
        high: the largest, above `low`.
        step: distance between the numbers to try, or, for `"log"`, their
            ratio; `None` (default) is all.
        sampling: `"linear"` (default), or `"log"`, which draws each order of
            magnitude as often as the next.

    Raises:
        ValueError: if the ends are no finite numbers in that order, or `low`,
            with `"log"`, is not above 0.

    Example:

    >>> Range(1e-3, 1e-1, sampling="log").is_whole
    False
    """

    low: float
    high: float
    step: float | None = None
    sampling: str = "linear"

    def __post_init__(self) -> None:
        check_choice("sampling", self.sampling, ("linear", "log"))
        log = self.sampling == "log"
        check_number("low", self.low, low=0 if log else -float("inf"), exclude_low=log)
        check_number("high", self.high, low=self.low, exclude_low=True)
        if self.step is not None:
            check_number("step", self.step, low=1 if log else 0, exclude_low=True)

    @property
    def is_whole(self) -> bool:
        """Whether the range is of whole numbers."""
        ends = (self.low, self.high, 1 if self.step is None else self.step)
        return all(isinstance(end, numbers.Integral) for end in ends)
