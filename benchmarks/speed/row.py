"""A measured figure."""

import dataclasses
import operator

from paired import Ratio

_CONDITIONS = {">=": operator.ge, "<=": operator.le, "<": operator.lt, ">": operator.gt}


@dataclasses.dataclass(frozen=True)
class Row:
    """A figure of an entry.

    Args:
        case: what was measured.
        measure: what the figure says.
        ratio: the figure and its spread.
        goal: `">= 0.97"` or the like, "" where there is none.
        note: anything else to know, such as seconds.
        point: where a plot has it, x and y.
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
        """The row as a CSV file has it."""
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
