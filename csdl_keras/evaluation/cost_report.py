"""Table that compares the costs of several models' decisions."""

import dataclasses
import html
from collections.abc import Mapping

import numpy as np

from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.known import CostsLike
from csdl_keras.evaluation.intervals import CostDifference, compare_costs, cost_interval
from csdl_keras.evaluation.scores import average_cost, cost_per_class, error_rate, example_costs

_HEADS = ("model", "average cost", "95 % interval", "normalised", "savings", "errors", "p")
_MOST_CLASSES = 12


@dataclasses.dataclass(frozen=True)
class CostRow:
    """Costs of one model's decisions.

    Args:
        name: name of the model.
        average_cost: average cost of its decisions.
        low: lower end of the 95 % interval of that cost, see `cost_interval`.
        high: upper end of that interval.
        normalized_cost: average cost relative to that of the best constant decision;
            NaN if that decision costs nothing.
        error_rate: share of wrong decisions among those for a class, see `error_rate`;
            NaN if there are none.
        abstained: share of decisions that are not a class; 0 without labels.
        per_class: average cost of each true class; empty without labels.
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
        """Share of the best constant decision's cost that is saved."""
        return 1.0 - self.normalized_cost

    def cells(self) -> tuple[str, ...]:
        """Returns the texts of the printed row."""
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
    """Table of models' costs, cheapest first, to print or to display in a notebook.

    With labels, a second table shows the average cost of each true class; with more
    than twelve classes, those that cost the cheapest model most.

    Args:
        rows: a `CostRow` for each model.
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
        """Returns tables as lines of cells; the first line of each holds the headings."""
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


def cost_report(
    decisions: Mapping[str, ArrayLike], y_true: ArrayLike, cost_matrix: CostsLike | None = None
) -> CostReport:
    """Scores the decisions of several models on the same test examples.

    Intervals are those of `cost_interval`, p-values those of `compare_costs` with the cheapest
    model. Each p-value holds for one pair only: with 15 equal models, some row had one below
    .05 in 76 % of simulated reports, because the cheapest model was selected from many.

    Args:
        decisions: `{name: integers (N,)}`, as returned by `csdl_keras.decide`.
        y_true: integer labels `(N,)`, or without a cost matrix cost vectors `(N, D)`.
        cost_matrix: `(K, D)`, `C[true, decision]`, or costs of each example, `(N, K, D)` or
            `csdl_keras.costs.AffineCosts`; `None` (default) if `y_true` holds cost vectors.

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
        own = decisions[name]
        low, high = cost_interval(y_true, own, cost_matrix)
        abstained, per_class = 0.0, ()
        if cost_matrix is not None:
            per_class = tuple(cost_per_class(y_true, own, cost_matrix).tolist())
            abstained = float(np.mean(np.asarray(own) >= len(per_class)))
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
