"""The paper's Table 2 with our figures, from the results and test decisions of a folder."""

import math
import pathlib
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
import pandas

from csdl_keras.evaluation import compare_costs
from csdl_keras.paper.decisions import Decisions, decisions_name
from csdl_keras.paper.differences import Difference, PairedDifferences, Run
from csdl_keras.paper.titles import DataTitle, data_order, data_title, paper_table2, variant_title
from csdl_keras.training.algorithms import PAPER_ALGORITHMS, Algorithm, get_algorithm

#: Headings of the series of algorithms, those of the paper first.
GROUPS = {
    "blind": "Cost-blind",
    "baseline": "Baselines",
    "Bayes": "Costs in prediction (Bayes series)",
    "SOSR": "Costs in training (SOSR series)",
    "regression": "Costs in training (cost regression)",
}
#: The hidden layers of the networks that the paper reports.
PAPER_LAYERS = "3000-3000-3000"

_SAVING = ["constant_cost", "saved", "saved_low", "saved_high"]


class Column:
    """All algorithms on one data set, or on its imbalanced variant.

    The best algorithm has the lowest mean cost among those with the most cost matrices and,
    of these, the most results, since a mean over fewer matrices or training seeds may be low by
    their choice alone. All other algorithms are compared with the best one on the matrices and
    seeds that both have. One that is no network learns the same from every seed.

    Args:
        rows: the rows of `results.csv` on this data set.
        decisions: the decisions behind them.
        ending: ending of the names of their arrays. Defaults to none.

    Attributes:
        cells: a data frame with a row for each algorithm that was run, see `_summary`, and whether
            it is `best`, or `tied` with it (`None` if unknown), and `bold` if either.
    """

    def __init__(self, rows: pandas.DataFrame, decisions: Decisions, ending: str = ""):
        rows = rows.reset_index(drop=True)
        self.dataset, self.imbalanced = rows["dataset"][0], bool(rows["imbalanced"][0])
        self.name: DataTitle = data_title(self.dataset)
        self.title = variant_title(self.dataset, self.imbalanced)
        self.train_size = int(rows["train_size"].max())
        self.hidden_units = sorted({*rows["hidden_units"]} - {""})
        seeds = {*rows["seed"]}
        self.seeds = len(seeds)
        costs, self.largest = _price(rows, decisions, ending)
        self.test_size = next((len(c) for each in costs.values() for c in each.values()), None)
        self._pairs = PairedDifferences(_for_all_seeds(costs, seeds), self.largest)
        own = dict(list(rows.groupby("algorithm", sort=False)))
        self.cells = pandas.DataFrame(list(map(_summary, own.values())), index=list(own))
        self.matrices = int(self.cells["matrices"].max())
        self.best = _lowest(_fullest(self.cells[self.cells["diverged"] == 0]), "cost")
        self.cells["best"] = self.cells.index == self.best
        self.cells["tied"] = [self._tied(name) for name in self.cells.index]
        self.cells["bold"] = self.cells["tied"].eq(True)

    @property
    def decimals(self) -> int:
        """Number of decimals that all figures of the column are shown with."""
        return 3 if self.cells["cost"].min() < 1 else 2

    @property
    def has_paper_size(self) -> bool:
        """True if its fully-connected networks have the hidden layers of the paper."""
        return self.hidden_units == [PAPER_LAYERS]

    def heading(self, variant: bool = True) -> str:
        """Returns its title, marked if the paper's figures are of other data."""
        title = self.title if variant else self.name.title
        return title if self.name.same else f"{title} ‡"

    def cell(self, name: str) -> pandas.Series | None:
        """Returns the row of an algorithm in `cells`, `None` if it was not run."""
        return self.cells.loc[name] if name in self.cells.index else None

    def paper(self, name: str) -> pandas.Series | None:
        """Returns the paper's figure of an algorithm on this data set or its counterpart."""
        key = self.name.paper, self.imbalanced, name
        return paper_table2().loc[key] if key in paper_table2().index else None

    def compare(self, name: str, other: str) -> Difference | None:
        """Returns the costs of `name` less those of `other`, `None` if decisions are missing.

        An algorithm whose training diverged for a matrix has no decisions for it. On the
        remaining matrices it would look better than it is, so it counts as infinitely
        costlier.
        """
        cells = [self.cell(name), self.cell(other)]
        diverged, other_diverged = (it is not None and it["diverged"] > 0 for it in cells)
        if diverged and other_diverged:
            return None
        if diverged or other_diverged:
            infinite = math.inf if diverged else -math.inf
            present = min(0 if it is None else int(it["matrices"]) for it in cells)
            return Difference(infinite, infinite, infinite, math.nan, present) if present else None
        return self._pairs.compare(name, other)

    def pretrained_alike(self, name: str, other: str) -> bool:
        """Tells whether two kinds of pre-training are one, as none looks at costs or errors."""
        kinds = {each: get_algorithm(each).pretraining for each in (name, other)}
        effective = {
            "dae" if (cell := self.cell(each)) is not None and cell["beta"] == 0 else kind
            for each, kind in kinds.items()
        }
        return len(effective) < len({*kinds.values()})

    def choose(self, names: Iterable[str]) -> str | None:
        """Returns the algorithm of lowest validation cost, of those with the most results."""
        known = [it for it in names if it in self.cells.index]
        cells = self.cells.loc[known]
        return _lowest(_fullest(cells[cells["validation_cost"] >= 0]), "validation_cost")

    def _tied(self, name: str) -> bool | None:
        cell = self.cells.loc[name]
        if name == self.best or cell["diverged"]:
            return name == self.best
        difference = self.compare(name, self.best) if self.best else None
        if difference is None:  # as `results.csv` of a comparison without decisions says
            return {"best": True, "tied": True, "costlier": False}.get(cell["against_best"])
        # An algorithm with fewer matrices may even be cheaper than the best one on those.
        return not difference.costlier


def _price(
    rows: pandas.DataFrame, decisions: Decisions, ending: str
) -> tuple[dict[str, dict[Run, np.ndarray]], dict[int, float]]:
    """Returns costs of decisions and the largest of each matrix; completes `rows` by them."""
    costs: dict[str, dict[Run, np.ndarray]] = {}
    largest = {}
    for at, row in rows.iterrows():
        seed, name = int(row["cost_seed"]), row["algorithm"]
        array = decisions_name(name, seed, row["seed"]) + ending
        priced = decisions.priced(array, seed)
        if priced is None:
            continue
        # Figures and decisions of different runs must not be mixed.
        if not np.isclose(priced.mean(), row["average_cost"], rtol=1e-3, atol=1e-6):
            raise ValueError(
                f"Expected {array} in {decisions.path} to cost what results.csv says, "
                f"{row['average_cost']}; received decisions that cost {priced.mean()}."
            )
        matrix, labels = decisions.matrix(seed), decisions.labels
        costs.setdefault(name, {})[seed, row["seed"]] = priced
        largest[seed] = float(matrix.max())
        if decisions.collapsed(array, seed, get_algorithm(name).series == "blind"):
            rows.loc[at, "collapsed"] = True
        means = matrix[labels].mean(axis=0)
        always = np.full(len(labels), means.argmin())
        pair = compare_costs(labels, decisions.arrays[array], always, matrix)
        rows.loc[at, ["constant_decision", "against_best"]] = [str(means.argmin()), ""]
        saved = (0.0 - it for it in (pair.difference, pair.high, pair.low))
        rows.loc[at, _SAVING] = [means.min(), *saved]
    return costs, largest


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


def _summary(rows: pandas.DataFrame) -> dict[str, object]:
    """Returns numbers and means of the results of an algorithm.

    Of few matrices the distance says little of the standard error, which is NaN then. The cost is
    infinite if training diverged for a matrix.
    """
    means = rows.groupby("cost_seed")[["average_cost", "validation_cost"]].mean()
    costs, names = means["average_cost"], {*rows["constant_decision"]}
    places = rows["against_best"]
    place = places.iloc[0]
    if place and len(rows) > 1:
        good = (places != "costlier").sum()
        place = f"best or tied for {good} of {len(rows)}"
    diverged = rows[np.isinf(rows["average_cost"])]["cost_seed"].nunique()
    known = len(costs) > 2 and not diverged
    return {
        "matrices": len(costs),
        "seeds": rows["seed"].nunique(),
        "results": len(rows),
        "diverged": diverged,
        "collapsed": int(rows["collapsed"].sum()),
        "tried_again": int((rows["tried_again"] > 0).sum()),
        "cost": costs.mean(),
        "standard_error": costs.sem() if known else math.nan,
        "validation_cost": means["validation_cost"].mean(skipna=False),
        "beta": rows["beta"].max(),
        "constant_decision": names.pop() if len(names) == 1 else "",
        "against_best": place,
        **rows[_SAVING].mean(skipna=False),
    }


def _fullest(cells: pandas.DataFrame) -> pandas.DataFrame:
    """Returns the algorithms with the most matrices and, of networks, the most results."""
    full = cells[cells["matrices"] == cells["matrices"].max()]
    networks = pandas.Series(
        [get_algorithm(name).body_kind.is_network for name in full.index], full.index, dtype=bool
    )
    return full[(full["results"] == full["results"].max()) | ~networks]


def _lowest(cells: pandas.DataFrame, column: str) -> str | None:
    return None if cells.empty else str(cells[column].astype(float).idxmin())


def read_columns(folder: pathlib.Path, results: pandas.DataFrame, ending: str = "") -> list[Column]:
    """Returns the data sets of results, with the test decisions of their folder."""
    groups = dict(list(results.groupby(["dataset", "imbalanced"], sort=False)))
    return [
        Column(groups[name, imbalanced], Decisions(folder, name + "_imb" * imbalanced), ending)
        for name, imbalanced in sorted(groups, key=lambda key: data_order(*key))
    ]


def panels(columns: Sequence[Column]) -> list[tuple[str, list[Column]]]:
    """Returns headings and columns of the balanced and of the imbalanced data sets."""
    halves = {"Balanced data": False, "Imbalanced data": True}
    found = {name: [it for it in columns if it.imbalanced is half] for name, half in halves.items()}
    return [(heading, own) for heading, own in found.items() if own]


def groups(columns: Sequence[Column]) -> list[tuple[str, list[Algorithm]]]:
    """Returns the heading and the algorithms of each series with a figure, ours or theirs."""
    run = dict.fromkeys(name for column in columns for name in column.cells.index)
    rows = [
        get_algorithm(name)
        for name in dict.fromkeys((*PAPER_ALGORITHMS, *run))
        if name in run or any(column.paper(name) is not None for column in columns)
    ]
    found = {heading: [it for it in rows if it.series == kind] for kind, heading in GROUPS.items()}
    return [(heading, members) for heading, members in found.items() if members]


def relative_costs(column: Column) -> pandas.DataFrame:
    """Returns `ours` and the `paper`'s costs divided by the lowest of each, and `bold`."""
    names = [row.name for _, members in groups([column]) for row in members]
    ours = column.cells["cost"].astype(float).reindex(names)
    figures = [column.paper(name) for name in names]
    paper = pandas.Series([math.nan if it is None else float(it["cost"]) for it in figures], names)
    return pandas.DataFrame(
        {
            "ours": ours / (ours.min() or math.nan),
            "paper": paper / paper.min(),
            "bold": [name in column.cells.index and column.cells["bold"][name] for name in names],
        }
    )
