"""Paired timings of one way relative to another, and the figures that they give."""

import dataclasses
import gc
import operator
import time
from collections.abc import Callable

import numpy as np

_CONDITIONS = {">=": operator.ge, "<=": operator.le, "<": operator.lt, ">": operator.gt}


@dataclasses.dataclass(frozen=True)
class Ratio:
    """Median of a ratio measured several times, and its quantiles at 5 % and 95 %."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, values: np.ndarray) -> "Ratio":
        """Returns the ratio that summarises measured ones."""
        low, high = np.quantile(values, [0.05, 0.95])
        return cls(float(np.median(values)), float(low), float(high))

    @classmethod
    def exactly(cls, value: float) -> "Ratio":
        """Returns a ratio that was measured once."""
        return cls(value, value, value)

    @classmethod
    def between(cls, values: np.ndarray, others: np.ndarray) -> "Ratio":
        """Returns the ratio of all pairs of values that were not measured in pairs."""
        return cls.of(np.divide.outer(values, others).ravel())


@dataclasses.dataclass(frozen=True)
class Row:
    """Measured figure of an entry.

    Args:
        case: name of the case.
        measure: name of the figure.
        ratio: the figure and its spread.
        goal: a condition such as `">= 0.97"`, or `""` (default) for none.
        note: further information, such as seconds.
        point: x and y in a plot, or `None` (default).
    """

    case: str
    measure: str
    ratio: Ratio
    goal: str = ""
    note: str = ""
    point: tuple[float, float] | None = None

    @property
    def met(self) -> str:
        """`"yes"` or `"no"`, or `""` without a goal."""
        if not self.goal:
            return ""
        sign, limit = self.goal.split()
        return "yes" if _CONDITIONS[sign](self.ratio.value, float(limit)) else "no"

    def cells(self) -> dict[str, str]:
        """Returns the row as texts for a CSV file."""
        return {
            "case": self.case,
            "measure": self.measure,
            "value": f"{self.ratio.value:.4g}",
            "low": f"{self.ratio.low:.4g}",
            "high": f"{self.ratio.high:.4g}",
            "goal": self.goal,
            "met": self.met,
            "note": self.note,
            "x": "" if self.point is None else f"{self.point[0]:.4g}",
            "y": "" if self.point is None else f"{self.point[1]:.4g}",
        }


def freeze() -> None:
    """Excludes all objects so far from garbage collections, which take tenths of a second."""
    gc.collect()
    gc.freeze()


def seconds(run: Callable[[], object]) -> float:
    """Returns the seconds that a call takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def interleaved(ways: dict[str, Callable[[], object]], rounds: int) -> dict[str, np.ndarray]:
    """Measures the seconds of each way in each round, after one round that is not counted.

    Ways alternate, so that a change in the machine's speed affects all of them alike; every
    other round runs in reverse order.
    """
    found: dict[str, list[float]] = {name: [] for name in ways}
    for index in range(rounds + 1):
        if index == 1:
            freeze()
        for name in list(ways)[:: 1 if index % 2 else -1]:
            taken = seconds(ways[name])
            if index:
                found[name].append(taken)
    return {name: np.array(values) for name, values in found.items()}
