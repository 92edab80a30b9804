"""What decisions save relative to the best constant decision, and what is as good as the best."""

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np

from csdl_keras.evaluation import CostDifference, CostReport, cost_report
from csdl_keras.evaluation._report_text import number
from csdl_keras.evaluation.cost_report import CostRow
from csdl_keras.experiments.data_source import DataSource


@dataclasses.dataclass(frozen=True, kw_only=True)
class Saving:
    """How test decisions compare with the best constant decision and with the best algorithm.

    Args:
        constant_decision: name of the one decision that costs least if it is always taken; empty
            (default) if it is not known, or not the same for all cost matrices.
        constant_cost: average cost of that decision; NaN (default) if unknown.
        saved: how much less than that the decisions cost on average; negative if they cost more.
        saved_low: lower end of the paired 95 % interval of `saved`.
        saved_high: upper end of that interval.
        against_best: `"best"`, `"tied"` if the paired 95 % interval of the difference to the best
            one contains 0, or `"costlier"`.
    """

    constant_decision: str = ""
    constant_cost: float = math.nan
    saved: float = math.nan
    saved_low: float = math.nan
    saved_high: float = math.nan
    against_best: str = ""

    @classmethod
    def of(cls, row: CostRow, report: CostReport) -> "Saving":
        """Returns the saving of a row of a report."""
        pair, best = row.against_constant, row.against_best
        assert pair is not None  # Only the row of the constant decision has none.
        place = "best" if best is None else "costlier" if best.costlier else "tied"
        return cls.by(pair, report.constant_name, report.constant.average_cost, place)

    @classmethod
    def by(
        cls, pair: CostDifference, constant_decision: str, constant_cost: float, place: str = ""
    ) -> "Saving":
        """Returns the saving for the difference in cost to the best constant decision."""
        return cls(
            constant_decision=constant_decision,
            constant_cost=constant_cost,
            saved=0.0 - pair.difference,
            saved_low=0.0 - pair.high,
            saved_high=0.0 - pair.low,
            against_best=place,
        )

    @classmethod
    def mean(cls, savings: Sequence["Saving"]) -> "Saving":
        """Returns the mean over cost matrices.

        The means of the ends of intervals are no closer than the ends of an interval of the mean.
        """
        names, against_best = {it.constant_decision for it in savings}, savings[0].against_best
        if against_best and len(savings) > 1:
            good = sum(it.against_best != "costlier" for it in savings)
            against_best = f"best or tied for {good} of {len(savings)}"
        figures = ("constant_cost", "saved", "saved_low", "saved_high")
        return cls(
            constant_decision=names.pop() if len(names) == 1 else "",
            against_best=against_best,
            **{name: float(np.mean([getattr(it, name) for it in savings])) for name in figures},
        )

    @property
    def is_known(self) -> bool:
        """Whether the cost of the best constant decision is known."""
        return not math.isnan(self.saved)

    @property
    def tied(self) -> bool | None:
        """Whether it is tied with the best for a single matrix; `None` if that is not known."""
        return {"best": True, "tied": True, "costlier": False}.get(self.against_best)

    @property
    def columns(self) -> tuple[str, str, str]:
        """The saving, its interval and `against_best` as text; dashes for what is not known."""
        if not self.is_known:
            return "–", "–", "–"
        interval = f"{number(self.saved_low, 3)} to {number(self.saved_high, 3)}"
        return number(self.saved), interval, self.against_best or "–"

    @property
    def constant(self) -> str:
        """Names the best constant decision."""
        name = self.constant_decision
        return f"always deciding {name}" if name else "the best constant decision"

    @property
    def sentence(self) -> str:
        """Says what the decisions cost, and what they save, on average."""
        cost, (saved, interval, _) = number(self.constant_cost - self.saved), self.columns
        return (
            f"Its decisions cost {cost} per test example, and {self.constant} costs "
            f"{number(self.constant_cost)}: a saving of {saved} (95 % interval {interval})."
        )


def report_decisions(
    decisions: Mapping[str, np.ndarray],
    source: DataSource,
    matrix: np.ndarray,
    names: Sequence[str] | None,
) -> CostReport:
    """Returns the `cost_report` of decisions on the test examples of a source.

    Args:
        decisions: decisions `(N,)` by the names of algorithms.
        source: the data, whose examples may have costs of their own.
        matrix: the cost matrix of all others.
        names: names of decisions; `None` for their indices.
    """
    own = source.example_costs("test")
    y_true, costs = (source.load().y_test, matrix) if own is None else (own, None)
    return cost_report(decisions, y_true, costs, decision_names=names)


def warning(savings: Mapping[str, Saving]) -> str:
    """Says that nothing costs less than the best constant decision; empty if something does.

    Something does if its interval lies above 0.

    Args:
        savings: savings by the names of algorithms; those that are not known count for nothing.
    """
    known = {name: it for name, it in savings.items() if it.is_known}
    if not known or any(it.saved_low > 0 for it in known.values()):
        return ""
    name, best = max(known.items(), key=lambda item: item[1].saved)
    return (
        f"Nothing here costs less than {best.constant} beyond chance. The cheapest is {name}. "
        f"{best.sentence}"
    )


def findings(savings: Mapping[str, Saving]) -> dict[str, object]:
    """Returns savings and their warning as `run.json` holds them."""
    rows = {
        name: {it.name: getattr(saving, it.name) for it in dataclasses.fields(Saving)}
        for name, saving in savings.items()
    }
    return {"warning": warning(savings), "savings": rows}
