"""One data set of the table: all algorithms on it."""

import collections
import dataclasses
import math
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from csdl_keras.experiments.reporting.comparison import (
    Difference,
    PairedDifferences,
    Run,
    group_means,
)
from csdl_keras.experiments.reporting.paper import (
    DataTitle,
    PaperFigure,
    data_title,
    paper_table2,
    variant_title,
)
from csdl_keras.experiments.reporting.reading import PricedDecisions, ResultRow
from csdl_keras.experiments.saving import Saving
from csdl_keras.training.algorithms import get_algorithm

#: The hidden layers of the networks that the paper reports.
PAPER_LAYERS = "3000-3000-3000"


@dataclasses.dataclass(frozen=True)
class TableCell:
    """Our figures of one algorithm on one data set, and the paper's.

    Args:
        matrices: number of cost matrices, 0 if the algorithm was not run.
        seeds: number of training seeds. Defaults to 1.
        results: number of results, fewer than `matrices * seeds` if some are missing. Defaults
            to 0.
        diverged: number of those matrices for which training diverged. Defaults to 0.
        collapsed: number of results that are no better than one decision for all examples.
            Defaults to 0.
        tried_again: number of results with the next best values, after better ones had collapsed.
            Where all of them collapse, the result is that of the best values. Defaults to 0.
        cost: mean of the average test cost over matrices, infinite if one diverged, NaN
            (default) if the algorithm was not run.
        standard_error: standard error of `cost` over matrices; NaN (default) for fewer than
            three, whose distance says little of it, or if one diverged.
        validation_cost: mean of the average validation cost, NaN (default) if unknown.
        beta: share of the cost-aware loss in pre-training; NaN (default) if there is none.
        best: whether it is the cheapest of its data set. Defaults to False.
        tied: whether it is not significantly costlier than the best; `None` if unknown.
        paper: the paper's figure, `None` (default) if it has none.
        saving: what it saves, unknown by default.
    """

    matrices: int
    seeds: int = 1
    results: int = 0
    diverged: int = 0
    collapsed: int = 0
    tried_again: int = 0
    cost: float = float("nan")
    standard_error: float = float("nan")
    validation_cost: float = float("nan")
    beta: float = float("nan")
    best: bool = False
    tied: bool | None = None
    paper: PaperFigure | None = None
    saving: Saving = Saving()

    @property
    def bold(self) -> bool:
        """True for the best algorithm, and those tied with it."""
        return self.best or bool(self.tied)


class Column:
    """All algorithms on one data set, or on its imbalanced variant.

    The best algorithm has the lowest mean cost among those with the most cost matrices and,
    of these, the most results, since a mean over fewer matrices or training seeds may be low by
    their choice alone. All other algorithms are compared with the best one on the matrices and
    seeds that both have. One that is no network learns the same from every seed.

    Args:
        rows: the rows of `results.csv` on this data set.
        decisions: the decisions behind them.
    """

    def __init__(self, rows: Sequence[ResultRow], decisions: PricedDecisions):
        self.seeds = len({row.seed for row in rows})
        costs = _for_all_seeds(decisions.costs, {row.seed for row in rows})
        self.dataset, self.imbalanced = rows[0].dataset, rows[0].imbalanced
        self.name: DataTitle = data_title(self.dataset)
        self.train_size = max(row.train_size for row in rows)
        self.test_size = next((len(c) for each in costs.values() for c in each.values()), None)
        self.hidden_units = sorted({row.hidden_units for row in rows if row.hidden_units})
        self.largest = decisions.largest
        self._pairs = PairedDifferences(costs, decisions.largest)
        own: dict[str, list[ResultRow]] = collections.defaultdict(list)
        for row in rows:
            own[row.algorithm].append(row)
        cells = {name: _summary(each, decisions) for name, each in own.items()}
        self.matrices = max(cell.matrices for cell in cells.values())
        self.best = _best(cells)
        self.cells = cells  # `_tied` compares them, before they are marked.
        self.cells = {
            name: dataclasses.replace(
                cell, best=name == self.best, tied=self._tied(name), paper=self.paper(name)
            )
            for name, cell in cells.items()
        }

    @property
    def title(self) -> str:
        """Title of the data set, with its variant."""
        return variant_title(self.dataset, self.imbalanced)

    @property
    def decimals(self) -> int:
        """Number of decimals that all figures of the column are shown with."""
        return 3 if min(cell.cost for cell in self.cells.values()) < 1 else 2

    @property
    def has_paper_size(self) -> bool:
        """True if its fully-connected networks have the hidden layers of the paper."""
        return self.hidden_units == [PAPER_LAYERS]

    def cell(self, name: str) -> TableCell:
        """Returns the cell of an algorithm, an empty one if it was not run."""
        return self.cells.get(name, TableCell(0, paper=self.paper(name)))

    def paper(self, name: str) -> PaperFigure | None:
        """Returns the paper's figure of an algorithm on this data set or its counterpart."""
        if self.name.paper is None:
            return None
        return paper_table2().get((self.name.paper, self.imbalanced, name))

    def compare(self, name: str, other: str) -> Difference | None:
        """Returns the costs of `name` less those of `other`, `None` if decisions are missing.

        An algorithm whose training diverged for a matrix has no decisions for it. On the
        remaining matrices it would look better than it is, so it counts as infinitely
        costlier.
        """
        diverged, other_diverged = self.cell(name).diverged, self.cell(other).diverged
        if diverged and other_diverged:
            return None
        if diverged or other_diverged:
            infinite = math.inf if diverged else -math.inf
            present = min(self.cell(name).matrices, self.cell(other).matrices)
            return Difference(infinite, infinite, infinite, math.nan, present) if present else None
        return self._pairs.compare(name, other)

    def pretrained_alike(self, name: str, other: str) -> bool:
        """Tells whether two kinds of pre-training are one, as none looks at costs or errors."""
        kinds = {get_algorithm(each).pretraining for each in (name, other)}
        effective = {
            "dae" if self.cell(each).beta == 0 else get_algorithm(each).pretraining
            for each in (name, other)
        }
        return len(effective) < len(kinds)

    def choose(self, names: Iterable[str]) -> str | None:
        """Returns the algorithm of lowest validation cost, of those with the most results."""
        known = {
            name: self.cells[name]
            for name in names
            if name in self.cells and self.cells[name].validation_cost >= 0
        }
        full = _fullest(known)
        return min(full, key=lambda name: full[name].validation_cost, default=None)

    def _tied(self, name: str) -> bool | None:
        if name == self.best or self.cells[name].diverged:
            return name == self.best
        difference = self.compare(name, self.best) if self.best else None
        # An algorithm with fewer matrices may even be cheaper than the best one on those.
        return self.cells[name].saving.tied if difference is None else not difference.costlier


def format_column(column: Column, variant: bool = True) -> str:
    """Title of a data set, marked if the paper's figures are of other data.

    Args:
        column: the data set.
        variant: whether to name the imbalanced variant. Defaults to True; False
            is for tables whose heading names it.

    Returns:
        A title.
    """
    title = column.title if variant else column.name.title
    return title if column.name.same else f"{title} ‡"


def _best(cells: Mapping[str, TableCell]) -> str | None:
    """Returns the lowest mean of those with the most results, `None` if all diverged."""
    full = _fullest({name: cell for name, cell in cells.items() if not cell.diverged})
    return min(full, key=lambda name: full[name].cost, default=None)


def _fullest(cells: Mapping[str, TableCell]) -> dict[str, TableCell]:
    """Returns the algorithms with the most matrices and, of networks, the most results."""
    matrices = max((cell.matrices for cell in cells.values()), default=0)
    full = {name: cell for name, cell in cells.items() if cell.matrices == matrices}
    results = max((cell.results for cell in full.values()), default=0)
    return {
        name: cell
        for name, cell in full.items()
        if cell.results == results or not get_algorithm(name).body_kind.is_network
    }


def _for_all_seeds(
    costs: Mapping[str, Mapping[Run, np.ndarray]], seeds: Collection[int]
) -> dict[str, Mapping[Run, np.ndarray]]:
    """Repeats the costs of algorithms that are no networks, for they learn alike from any seed."""
    return {
        name: own
        if get_algorithm(name).body_kind.is_network
        else {(matrix, seed): each for (matrix, _), each in own.items() for seed in seeds}
        for name, own in costs.items()
    }


def _summary(rows: list[ResultRow], decisions: PricedDecisions) -> TableCell:
    costs = np.array([row.average_cost for row in rows])
    diverged = np.isinf(costs)
    matrices = [row.cost_seed for row in rows]
    means = group_means(matrices, costs)
    known = len(means) > 2 and not diverged.any()
    error = means.std(ddof=1) / np.sqrt(len(means)) if known else np.nan
    return TableCell(
        matrices=len(means),
        seeds=len({row.seed for row in rows}),
        results=len(rows),
        diverged=len({row.cost_seed for row in rows if np.isinf(row.average_cost)}),
        collapsed=sum(
            row.collapsed or (row.algorithm, row.cost_seed, row.seed) in decisions.collapsed
            for row in rows
        ),
        tried_again=sum(row.tried_again > 0 for row in rows),
        cost=float(means.mean()),
        standard_error=float(error),
        validation_cost=float(group_means(matrices, [it.validation_cost for it in rows]).mean()),
        beta=max(row.beta for row in rows),
        saving=Saving.mean(list(map(decisions.saving, rows))),
    )
