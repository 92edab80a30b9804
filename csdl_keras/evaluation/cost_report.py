"""What several models' decisions cost, as one table."""

import dataclasses
import html
from collections.abc import Mapping
from typing import Any

import numpy as np

from csdl_keras.evaluation.intervals import CostDifference, compare_costs, cost_interval
from csdl_keras.evaluation.scores import average_cost, cost_per_class, error_rate, example_costs

_HEADS = ("model", "average cost", "95 % interval", "normalised", "savings", "errors", "p")
_MOST_CLASSES = 12


@dataclasses.dataclass(frozen=True)
class CostRow:
    """What one model's decisions cost.

    Args:
        name: of the model.
        average_cost: of an example.
        low: lower end of its 95 % interval, see `cost_interval`.
        high: upper end.
        normalized_cost: the average in units of the best constant decision's; NaN
            where that costs nothing.
        error_rate: share of wrong decisions among those for a class, see `error_rate`;
            NaN without any.
        abstained: share of decisions that are for no class; 0 without labels.
        per_class: average cost of each true class, empty without labels.
        against_best: comparison with the model of lowest average cost; `None` for
            that model itself.
    """

    name: str
    average_cost: float
    low: float
    high: float
    normalized_cost: float
    error_rate: float
    abstained: float
    per_class: tuple[float, ...]
    against_best: CostDifference | None

    @property
    def savings(self) -> float:
        """The share of the best constant decision's cost that is saved."""
        return 1.0 - self.normalized_cost

    def cells(self) -> tuple[str, ...]:
        """The row of the printed table."""
        against = self.against_best
        return (
            self.name,
            f"{self.average_cost:.4g}",
            f"{self.low:.4g} to {self.high:.4g}",
            f"{self.normalized_cost:.3f}",
            f"{self.savings:.1%}",
            "–" if np.isnan(self.error_rate) else f"{self.error_rate:.1%}",
            "best" if against is None else f"{against.p_value:.2g}",
        )


@dataclasses.dataclass(frozen=True)
class CostReport:
    """A table of `CostRow`s, cheapest first; `print` it, or show it in a notebook.

    With labels a second table has the average cost of each true class; of more
    than twelve those that the cheapest model pays most for.

    Args:
        rows: the rows.
        size: number of test examples.

    Example:

    >>> report = cost_report({"a": [0, 1, 1], "b": [0, 0, 1]}, [0, 1, 1], [[0, 1], [9, 0]])
    >>> [row.name for row in report.rows]
    ['a', 'b']
    """

    rows: tuple[CostRow, ...]
    size: int

    def __str__(self) -> str:
        return "\n\n".join([*map(_as_text, self._tables()), self._note()])

    def _repr_html_(self) -> str:
        return "".join(map(_as_html, self._tables())) + f"<p>{html.escape(self._note())}</p>"

    def _tables(self) -> list[list[tuple[str, ...]]]:
        """Lines of cells, the first of each table its heads."""
        heads: tuple[str, ...] = _HEADS
        cells: list[tuple[str, ...]] = [row.cells() for row in self.rows]
        if any(row.abstained for row in self.rows):
            heads = (*heads, "abstains")
            cells = [
                (*line, f"{row.abstained:.1%}") for line, row in zip(cells, self.rows, strict=True)
            ]
        costs = np.array([row.per_class for row in self.rows])
        if not costs.size:
            return [[heads, *cells]]
        shown = np.sort(np.argsort(-np.nan_to_num(costs[0]), kind="stable")[:_MOST_CLASSES])
        classes = [("cost of class", *map(str, shown))]
        for row, line in zip(self.rows, costs, strict=True):
            classes.append((row.name, *(f"{cost:.3g}" for cost in line[shown])))
        return [[heads, *cells], classes]

    def _note(self) -> str:
        return (
            f"{self.size} examples. normalised: in units of the best constant decision's cost. "
            "p: paired, against the best row, not corrected for the number of rows."
        )


def _as_text(table: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in table
    )


def _as_html(table: list[tuple[str, ...]]) -> str:
    heads = "".join(f"<th>{html.escape(head)}</th>" for head in table[0])
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>"
        for line in table[1:]
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def cost_report(decisions: Mapping[str, Any], y_true: Any, cost_matrix: Any = None) -> CostReport:
    """Scores the decisions of several models on the same test examples.

    Intervals are those of `cost_interval`, p-values those of `compare_costs` with the cheapest
    model. They are of one pair each: among 15 equal models, some row had one below .05 in
    76 % of simulated reports, since the cheapest one was chosen from many.

    Args:
        decisions: `{name: integers (N,)}`, as `csdl_keras.decide` returns them.
        y_true: integer labels `(N,)`, or without a cost matrix cost vectors `(N, D)`.
        cost_matrix: `(K, D)`, `C[true, decision]`; `None` (default) if `y_true`
            holds cost vectors.

    Returns:
        A `CostReport`, cheapest model first.

    Raises:
        ValueError: if there are no decisions or an argument fails its check.
        ModuleNotFoundError: if SciPy is missing.

    Example:

    >>> labels, matrix = [0, 1, 1, 0], [[0, 1], [9, 0]]
    >>> print(cost_report({"all 1": [1, 1, 1, 1]}, labels, matrix).rows[0].average_cost)
    0.5
    """
    if not isinstance(decisions, Mapping) or not decisions:
        raise ValueError(
            f"Expected `decisions` to be a dict of at least one model's; received {decisions!r}."
        )
    for name in decisions:
        if not isinstance(name, str):
            raise ValueError(f"Expected names in `decisions` to be strings; received {name!r}.")
    costs = example_costs(y_true, cost_matrix)
    paid = {name: average_cost(y_true, own, cost_matrix) for name, own in decisions.items()}
    names = sorted(paid, key=lambda name: paid[name])
    constant = costs.mean(axis=0).min()
    rows = []
    for name in names:
        own = np.asarray(decisions[name])
        low, high = cost_interval(y_true, own, cost_matrix)
        if cost_matrix is None:
            abstained, per_class = 0.0, ()
        else:
            abstained = float(np.mean(own >= len(cost_matrix)))
            per_class = tuple(cost_per_class(y_true, own, cost_matrix).tolist())
        rows.append(
            CostRow(
                name=name,
                average_cost=paid[name],
                low=low,
                high=high,
                normalized_cost=float(paid[name] / constant) if constant else float("nan"),
                error_rate=error_rate(y_true, own, cost_matrix),
                abstained=abstained,
                per_class=per_class,
                against_best=None
                if name == names[0]
                else compare_costs(y_true, own, decisions[names[0]], cost_matrix),
            )
        )
    return CostReport(tuple(rows), len(costs))
