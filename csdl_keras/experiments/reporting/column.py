"""One data set of the table."""

import collections
import dataclasses
import math
from collections.abc import Iterable, Mapping

import numpy as np

from csdl_keras.experiments.reporting.cost_row import CostRow
from csdl_keras.experiments.reporting.data_title import DataTitle, data_title
from csdl_keras.experiments.reporting.difference import Difference
from csdl_keras.experiments.reporting.paired_differences import PairedDifferences
from csdl_keras.experiments.reporting.paper_figure import PaperFigure
from csdl_keras.experiments.reporting.paper_table2 import paper_table2
from csdl_keras.experiments.reporting.table_cell import TableCell


class Column:
    """All algorithms on one data set, or on its imbalanced variant.

    The best algorithm has the lowest mean among those with the most cost
    matrices; a mean over fewer of them may be low by the choice of matrices. All
    others are compared with it on the matrices that both have.

    Args:
        rows: its rows of `results.csv`.
        costs: see `PairedDifferences`.
        largest: the largest cost of each matrix.
    """

    def __init__(
        self,
        rows: list[CostRow],
        costs: Mapping[str, Mapping[int, np.ndarray]],
        largest: Mapping[int, float],
    ):
        self.dataset, self.imbalanced = rows[0].dataset, rows[0].imbalanced
        self.name: DataTitle = data_title(self.dataset)
        self.train_size = max(row.train_size for row in rows)
        self.test_size = next((len(c) for each in costs.values() for c in each.values()), None)
        self.largest = dict(largest)
        self._pairs = PairedDifferences(costs, largest)
        own: dict[str, list[CostRow]] = collections.defaultdict(list)
        for row in rows:
            own[row.algorithm].append(row)
        cells = {name: _summary(each) for name, each in own.items()}
        self.matrices = max(cell.matrices for cell in cells.values())
        self.best = _best(cells)
        self.cells = cells  # without marks, which comparing them yields
        self.cells = {
            name: dataclasses.replace(
                cell, best=name == self.best, tied=self._tied(name), paper=self.paper(name)
            )
            for name, cell in cells.items()
        }

    @property
    def title(self) -> str:
        """Title of the data set and of its variant."""
        return f"{self.name.title}, imbalanced" if self.imbalanced else self.name.title

    @property
    def decimals(self) -> int:
        """Digits after the point that all figures of the column are shown with."""
        return 3 if min(cell.cost for cell in self.cells.values()) < 1 else 2

    def cell(self, name: str) -> TableCell:
        """The cell of an algorithm, run or not."""
        return self.cells.get(name, TableCell(0, paper=self.paper(name)))

    def paper(self, name: str) -> PaperFigure | None:
        """The paper's figure for an algorithm on these data, or on those most like them."""
        if self.name.paper is None:
            return None
        return paper_table2().get((self.name.paper, self.imbalanced, name))

    def compare(self, name: str, other: str) -> Difference | None:
        """Costs of `name` less those of `other`, `None` if decisions are missing.

        Training that diverged leaves no decisions. On the other matrices alone, its
        algorithm would look better than it is, so that it costs infinitely more here.
        """
        diverged, other_diverged = self.cell(name).diverged, self.cell(other).diverged
        if diverged and other_diverged:
            return None
        if diverged or other_diverged:
            infinite = math.inf if diverged else -math.inf
            present = min(self.cell(name).matrices, self.cell(other).matrices)
            return Difference(infinite, infinite, infinite, math.nan, present) if present else None
        return self._pairs.compare(name, other)

    def choose(self, names: Iterable[str]) -> str | None:
        """The algorithm of the lowest validation cost, among those with the most matrices."""
        known = [n for n in names if n in self.cells and self.cells[n].validation_cost >= 0]
        if not known:
            return None
        most = max(self.cells[name].matrices for name in known)
        full = [name for name in known if self.cells[name].matrices == most]
        return min(full, key=lambda name: self.cells[name].validation_cost)

    def _tied(self, name: str) -> bool | None:
        if name == self.best or self.cells[name].diverged:
            return name == self.best
        difference = self.compare(name, self.best) if self.best else None
        # A row with fewer matrices may even be cheaper than the best on those.
        return None if difference is None else not difference.costlier


def _best(cells: Mapping[str, TableCell]) -> str | None:
    """The lowest mean among those with the most matrices, `None` if all diverged."""
    sound = {name: cell for name, cell in cells.items() if not cell.diverged}
    most = max((cell.matrices for cell in sound.values()), default=0)
    full = [name for name, cell in sound.items() if cell.matrices == most]
    return min(full, key=lambda name: cells[name].cost, default=None)


def _summary(rows: list[CostRow]) -> TableCell:
    costs = np.array([row.average_cost for row in rows])
    diverged = int(np.isinf(costs).sum())
    known = len(costs) > 1 and not diverged
    error = costs.std(ddof=1) / np.sqrt(len(costs)) if known else np.nan
    return TableCell(
        matrices=len(rows),
        diverged=diverged,
        cost=float(costs.mean()),
        standard_error=float(error),
        validation_cost=float(np.mean([row.validation_cost for row in rows])),
    )
