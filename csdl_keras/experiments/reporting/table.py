"""The layout of the paper's Table 2, with our figures."""

import collections
import dataclasses
import math
import pathlib
from typing import NamedTuple

from csdl_keras.experiments.csv_files import read_csv
from csdl_keras.experiments.data_source import DataSource, results_path
from csdl_keras.experiments.reporting.column import Column
from csdl_keras.experiments.reporting.paper import data_order
from csdl_keras.experiments.reporting.reading import ResultRow, read_decision_costs
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.algorithms import PAPER_ALGORITHMS, get_algorithm

#: Headings of the series of algorithms, those of the paper first.
GROUPS = {
    "blind": "Cost-blind",
    "baseline": "Baselines",
    "Bayes": "Costs in prediction (Bayes series)",
    "SOSR": "Costs in training (SOSR series)",
    "regression": "Costs in training (cost regression)",
}


class Table:
    """A table of data sets (columns) by algorithms, grouped by series (rows).

    Args:
        columns: the data sets.
    """

    def __init__(self, columns: list[Column]):
        self.columns = columns

    @property
    def panels(self) -> list[tuple[str, list[Column]]]:
        """Headings and columns of the balanced and of the imbalanced data sets."""
        halves = {"Balanced data": False, "Imbalanced data": True}
        panels = {
            heading: [column for column in self.columns if column.imbalanced is imbalanced]
            for heading, imbalanced in halves.items()
        }
        return [(heading, columns) for heading, columns in panels.items() if columns]

    @staticmethod
    def groups(columns: list[Column]) -> list[tuple[str, list[Algorithm]]]:
        """Returns the heading and the algorithms of each series with a figure, ours or theirs."""
        run = dict.fromkeys(name for column in columns for name in column.cells)
        extra = [name for name in run if name not in PAPER_ALGORITHMS]
        rows = [
            get_algorithm(name)
            for name in (*PAPER_ALGORITHMS, *extra)
            if name in run or any(column.paper(name) for column in columns)
        ]
        groups = {
            heading: [row for row in rows if row.series == series]
            for series, heading in GROUPS.items()
        }
        return [(heading, members) for heading, members in groups.items() if members]


def read_table(folder: pathlib.Path) -> Table:
    """Reads `results.csv` and the test decisions of a results folder.

    Args:
        folder: results folder.

    Returns:
        A `Table`.

    Raises:
        ValueError: if files are missing or do not fit together.
    """
    path = folder / "results.csv"
    groups: dict[tuple[str, bool], list[ResultRow]] = collections.defaultdict(list)
    seen = set()
    for row in read_csv(path, ResultRow):
        try:
            row = dataclasses.replace(row, algorithm=get_algorithm(row.algorithm).name)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        key = (row.dataset, row.imbalanced, row.algorithm, row.cost_seed, row.seed)
        if key in seen:
            raise ValueError(f"Expected one row for each result in {path}; received two of {key}.")
        seen.add(key)
        groups[row.dataset, row.imbalanced].append(row)
    if not groups:
        raise ValueError(f"Expected results in {path}; received none below the header.")
    keys = sorted(groups, key=lambda key: (key[1], *data_order(key[0])))
    paths = {key: results_path(folder, DataSource(*key).label) for key in keys}
    return Table(
        [Column(groups[key], read_decision_costs(path, groups[key])) for key, path in paths.items()]
    )


class RelativeCost(NamedTuple):
    """The cost of an algorithm, divided by the lowest cost of its data set.

    Args:
        algorithm: the algorithm.
        ours: our cost divided by our lowest; NaN if the algorithm was not run or
            the lowest cost is 0, infinite if training diverged.
        paper: the paper's cost divided by its lowest, NaN if it has none.
        bold: whether ours is the lowest or tied with it.
    """

    algorithm: Algorithm
    ours: float
    paper: float
    bold: bool


def relative_costs(column: Column) -> list[RelativeCost]:
    """Divides our costs by our lowest one and the paper's by its lowest one.

    Args:
        column: a data set.

    Returns:
        A `RelativeCost` for each algorithm of the table, in its order.
    """
    rows = [row for _, members in Table.groups([column]) for row in members]
    cells = [column.cell(row.name) for row in rows]
    lowest = min(cell.cost for cell in column.cells.values())
    paper_lowest = min((float(cell.paper.cost) for cell in cells if cell.paper), default=1.0)
    return [
        RelativeCost(
            row,
            cell.cost / lowest if lowest else math.nan,
            float(cell.paper.cost) / paper_lowest if cell.paper else math.nan,
            cell.bold,
        )
        for row, cell in zip(rows, cells, strict=True)
    ]
