"""A measured figure."""

import dataclasses
import operator

from paired import Ratio

_CONDITIONS = {">=": operator.ge, "<=": operator.le, "<": operator.lt, ">": operator.gt}


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
        """Whether the goal is met, "" without one."""
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
