"""The paper's Table 2 with our results, from a folder of results and test decisions."""

import functools
import importlib.resources
import math
import pathlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas

from csdl_keras.evaluation import compare_costs
from csdl_keras.paper.differences import Difference, Run, paired_difference
from csdl_keras.paper.results import Decisions, decisions_name
from csdl_keras.training.algorithms import ALGORITHMS, Algorithm, get_algorithm

#: Headings of the series of algorithms, those of the paper first.
GROUPS = {
    "blind": "Cost-blind",
    "baseline": "Baselines",
    "Bayes": "Costs in prediction (Bayes series)",
    "SOSR": "Costs in training (SOSR series)",
    "regression": "Costs in training (cost regression)",
}
#: The hidden layers of the paper's networks.
PAPER_LAYERS = "3000-3000-3000"

_SAVING = ["constant_decision", "constant_cost", "saved", "saved_low", "saved_high"]


class DataTitle(NamedTuple):
    """The title of a data set, the paper's counterpart, whether both are the same, and the size."""

    title: str
    paper: str | None = None
    same: bool = True
    examples: int = 0


_TITLES = {
    "mnist": DataTitle("MNIST", "mnist", examples=60_000),
    "bg_img_rot": DataTitle("bg-img-rot", "bg_img_rot", examples=12_000),
    "bg_img_rot_synthetic": DataTitle("bg-img-rot, synthetic", "bg_img_rot", False, 12_000),
    "svhn": DataTitle("SVHN", "svhn", examples=73_257),
    "cifar10": DataTitle("CIFAR-10", "cifar10", examples=50_000),
    "mnist_5k": DataTitle("MNIST, 5,000 images"),
    "digits": DataTitle("digits, 8 × 8"),
}


def data_title(name: str) -> DataTitle:
    """Returns the title of a data set; for an unknown one, its name."""
    return _TITLES.get(name, DataTitle(name))


def variant_title(label: str) -> str:
    """Returns the title of a data set by its label, such as `"mnist_imb"`."""
    return data_title(label.removesuffix("_imb")).title + ", imbalanced" * label.endswith("_imb")


def data_order(label: str) -> tuple[bool, int, str]:
    """Returns a sort key: balanced sets first, in the paper's order, then others by name."""
    names, name = list(_TITLES), label.removesuffix("_imb")
    return label != name, names.index(name) if name in names else len(names), name


@functools.cache
def paper_table2() -> pandas.DataFrame:
    """Returns `cost`, `standard_error`, `bold` as printed, by data set, variant and algorithm."""
    path = importlib.resources.files(__package__) / "paper_table2.csv"
    with path.open(encoding="utf-8") as file:
        frame = pandas.read_csv(file, dtype={"cost": str, "standard_error": str})
    return frame.set_index(["dataset", "imbalanced", "algorithm"])


class Column:
    """All algorithms on one data set; `best` is chosen among those with most results."""

    def __init__(self, rows: pandas.DataFrame, decisions: Decisions, ending: str = ""):
        rows = rows.reset_index(drop=True).assign(**dict.fromkeys(_SAVING, math.nan))
        rows["constant_decision"] = ""
        self.dataset, self.imbalanced = rows["dataset"][0], bool(rows["imbalanced"][0])
        self.label, self.title = decisions.label, variant_title(decisions.label)
        self.name = data_title(self.dataset)
        #: The title, marked if the paper's figures are of other data.
        self.heading = self.title if self.name.same else f"{self.title} ‡"
        self.train_size = int(rows["train_size"].max())
        self.hidden_units = sorted({*rows["hidden_units"]} - {""})
        self.seeds = rows["seed"].nunique()
        self._costs: dict[str, dict[Run, np.ndarray]] = {}
        #: The largest cost of each matrix.
        self.largest = {it: float(decisions.matrix(it).max()) for it in {*rows["cost_seed"]}}
        self.test_size = len(decisions.labels)
        self._price(rows, decisions, ending)
        own = dict(list(rows.groupby("algorithm", sort=False)))
        self.cells = pandas.DataFrame(list(map(_summary, own.values())), index=list(own))
        self.matrices = int(self.cells["matrices"].max())
        self.runs = _runs(self.matrices, self.seeds)
        # Means over fewer results may be low because of their selection.
        self.best = _lowest(_fullest(self.cells[self.cells["diverged"] == 0]), "cost")
        self.cells["best"] = self.cells.index == self.best
        # On fewer matrices, an algorithm may even be cheaper than the best one.
        pairs = [self.compare(name, self.best) for name in self.cells.index]
        self.cells["tied"] = [it is not None and it.low <= 0 for it in pairs]

    def cell(self, name: str) -> pandas.Series | None:
        return self.cells.loc[name] if name in self.cells.index else None

    def text(self, name: str) -> str:
        """Formats a cell: `"0.086 ± 0.007"`, with a star if a network collapsed; else a dash."""
        cell = self.cell(name)
        if cell is None:
            return "–"
        if cell["diverged"]:
            return f"diverged ({cell['diverged']} of {cell['matrices']})"
        decimals = 3 if self.cells["cost"].min() < 1 else 2
        text = f"{cell['cost']:.{decimals}f}" + "*" * bool(cell["collapsed"])
        if math.isfinite(cell["standard_error"]):
            text += f" ± {cell['standard_error']:.{decimals}f}"
        runs = _runs(cell["matrices"], cell["seeds"])
        return text if runs == self.runs else f"{text} (n = {runs})"

    def paper(self, name: str) -> pandas.Series | None:
        """Returns the paper's figure of an algorithm on this data set or its counterpart."""
        key = self.name.paper, self.imbalanced, name
        return paper_table2().loc[key] if key in paper_table2().index else None

    def compare(self, name: str, other: str | None) -> Difference | None:
        """Returns the costs of `name` minus those of `other`, unless one is missing or diverged."""
        finished = self.cells["diverged"].reindex([name, other]).eq(0).all()
        if other is None or not finished:
            return None
        return paired_difference(self._costs[name], self._costs[other], self.largest)

    def pretrained_alike(self, name: str, other: str) -> bool:
        """Returns whether two kinds of pre-training are the same, since β = 0."""
        kinds = {each: get_algorithm(each).pretraining for each in (name, other)}
        betas = self.cells["beta"].reindex(list(kinds))
        effective = {"dae" if betas[each] == 0 else kind for each, kind in kinds.items()}
        return len(effective) < len({*kinds.values()})

    def choose(self, names: Iterable[str]) -> str | None:
        """Returns the algorithm of lowest validation cost among those with the most results."""
        cells = self.cells[self.cells.index.isin(list(names))]
        return _lowest(_fullest(cells[cells["validation_cost"] >= 0]), "validation_cost")

    def _price(self, rows: pandas.DataFrame, decisions: Decisions, ending: str) -> None:
        """Computes the costs of decisions, and the columns of `rows` that follow from them."""
        seeds, labels = {*rows["seed"]}, decisions.labels
        for at, row in rows.iterrows():
            matrix_seed, seed, name = row["cost_seed"], row["seed"], row["algorithm"]
            array = decisions_name(name, matrix_seed, seed) + ending
            if array not in decisions.arrays:  # The training diverged.
                continue
            priced = decisions.priced(array, matrix_seed)
            if not np.isclose(priced.mean(), row["average_cost"], rtol=1e-3, atol=1e-6):
                raise ValueError(
                    f"The decisions {array} in {decisions.path} cost {priced.mean()}, but "
                    f"{row['average_cost']} in results.csv: they belong to different runs."
                )
            # Only networks depend on the training seed.
            repeated = [seed] if get_algorithm(name).body_kind.is_network else seeds
            runs = {(matrix_seed, each): priced for each in repeated}
            self._costs.setdefault(name, {}).update(runs)
            matrix = decisions.matrix(matrix_seed)
            if decisions.collapsed(array, matrix_seed, name):
                rows.loc[at, "collapsed"] = True
            means = matrix[labels].mean(axis=0)
            always = np.full(len(labels), means.argmin())
            pair = compare_costs(labels, decisions.arrays[array], always, matrix)
            saved = means.min(), 0.0 - pair.difference, 0.0 - pair.high, 0.0 - pair.low
            rows.loc[at, _SAVING] = [str(means.argmin()), *saved]


def _runs(matrices: int, seeds: int) -> str:
    return str(matrices) if seeds == 1 else f"{matrices} × {seeds}"


def _summary(rows: pandas.DataFrame) -> dict[str, object]:
    means = rows.groupby("cost_seed")[["average_cost", "validation_cost"]].mean()
    costs, names = means["average_cost"], {*rows["constant_decision"]}
    diverged = rows[np.isinf(rows["average_cost"])]["cost_seed"].nunique()
    return {
        "matrices": len(costs),
        "seeds": rows["seed"].nunique(),
        "results": len(rows),
        "diverged": diverged,
        "collapsed": int(rows["collapsed"].sum()),
        "tried_again": int((rows["tried_again"] > 0).sum()),
        "cost": costs.mean(),
        # Two matrices say little about the standard error.
        "standard_error": costs.sem() if len(costs) > 2 and not diverged else math.nan,
        "validation_cost": means["validation_cost"].mean(skipna=False),
        "beta": rows["beta"].max(),
        "constant_decision": names.pop() if len(names) == 1 else "",
        **rows[_SAVING[1:]].mean(skipna=False),
    }


def _fullest(cells: pandas.DataFrame) -> pandas.DataFrame:
    """Returns the algorithms with the most matrices and, of networks, the most results."""
    full = cells[cells["matrices"] == cells["matrices"].max()]
    machines = [name for name in full.index if not get_algorithm(name).body_kind.is_network]
    return full[full["results"].eq(full["results"].max()) | full.index.isin(machines)]


def _lowest(cells: pandas.DataFrame, column: str) -> str | None:
    return None if cells.empty else str(cells[column].astype(float).idxmin())


def row_title(algorithm: Algorithm) -> str:
    """Returns the title of an algorithm, marked if it is not in the paper's table."""
    return algorithm.title + " †" * (not algorithm.in_table2)


def read_columns(folder: pathlib.Path, results: pandas.DataFrame, ending: str = "") -> list[Column]:
    """Returns a column for each data set of results, with the test decisions of the folder."""
    by_label = dict(list(results.groupby("label")))
    return [
        Column(by_label[label], Decisions(folder, label), ending)
        for label in sorted(by_label, key=data_order)
    ]


def panels(columns: Sequence[Column]) -> dict[str, list[Column]]:
    """Returns the columns of balanced and of imbalanced data sets, by heading."""
    found = {
        "Balanced data": [it for it in columns if not it.imbalanced],
        "Imbalanced data": [it for it in columns if it.imbalanced],
    }
    return {heading: own for heading, own in found.items() if own}


def groups(columns: Sequence[Column]) -> dict[str, list[Algorithm]]:
    """Returns the algorithms of each series with results, ours or the paper's, by heading."""
    run = {name for column in columns for name in column.cells.index}
    rows = [
        row
        for name, row in ALGORITHMS.items()
        if name in run or any(column.paper(name) is not None for column in columns)
    ]
    found = {heading: [it for it in rows if it.series == kind] for kind, heading in GROUPS.items()}
    return {heading: members for heading, members in found.items() if members}
