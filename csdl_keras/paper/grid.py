"""The grid of the paper's Table 2: algorithms by data sets, cost matrices and training seeds."""

import dataclasses
import datetime
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from csdl_keras.paper.cells import FIRST_COST_SEED, Cell, DataSource, Outcome
from csdl_keras.paper.failures import Failures
from csdl_keras.paper.folder import CURVE_ALGORITHM, Folder
from csdl_keras.paper.profiles import Profile, Search
from csdl_keras.paper.running import Runner
from csdl_keras.training.algorithms import Algorithm
from csdl_keras.training.settings import Settings, column

#: Most choices that are tried for a result, one after the other as they collapse.
_MOST_TRIED = 3


@dataclasses.dataclass
class Grid:
    """Runs algorithms for several cost matrices and training seeds on several data sets.

    Values of the profile's searches are chosen for each algorithm on the validation examples,
    the first cost matrix and the first seed, and then kept. A result that collapses nevertheless
    is tried again with the next best values. Algorithms that verdicts need most come first, and
    for each data set the first matrix of all of them. What is in the folder is not trained again,
    even if the cache no longer holds it.

    Args:
        profile: sizes, data sets, algorithms, and values to choose from.
        folder: the folder of the results.
        runner: runs the cells; is told what fails.
        cost_scale: `scale` of `randomized_proportional`. Defaults to 10.
        seed: first seed of training, and seed of the imbalanced variants. Defaults to 0.
        source_choices: further arguments of each `DataSource`.
        doubled: whether to train one cell of each algorithm again with twice the epochs.
        check: called after each training; may raise an exception to end the run.
        tell: is told lines about what was trained and chosen.
    """

    profile: Profile
    folder: Folder
    runner: Runner
    cost_scale: float = 10.0
    seed: int = 0
    source_choices: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    doubled: bool = False
    check: Callable[[], None] = lambda: None
    tell: Callable[[str], object] = lambda text: None

    def run(self) -> Failures:
        """Runs what is missing, data set after data set; each result is on disk at once.

        Returns:
            What failed; its results are missing, all others are there.
        """
        for algorithms in filter(None, self.profile.tiers):
            for dataset in self.profile.datasets:
                with self.runner.failures.step(dataset):
                    self._run_dataset(dataset, algorithms)
        return self.runner.failures

    def planned(self) -> dict[str, int]:
        """Returns the number of results of each algorithm on a data set."""
        return {
            it.name: len(self._places(it)) for algorithms in self.profile.tiers for it in algorithms
        }

    def _run_dataset(self, dataset: str, algorithms: list[Algorithm]) -> None:
        source = self._source(dataset)
        settings = self.profile.settings_on(dataset)
        cells = self._final(dataset, algorithms[0], settings)
        self.folder.decisions(source, {cell.cost_seed: cell.matrix for cell in cells})
        rankings = {}
        for algorithm in algorithms:
            with self.runner.failures.step(f"{dataset} {algorithm.name}"):
                ranking = self._choose(dataset, algorithm)
                if ranking:
                    rankings[algorithm] = ranking
                    self._finish(dataset, algorithm, ranking, 1)
        for algorithm, ranking in rankings.items():
            self._finish(dataset, algorithm, ranking, len(self._places(algorithm)))
            if self.doubled:
                self._double(dataset, algorithm, ranking)
            costs = self.folder.costs(source, algorithm.name)
            if costs:
                self.tell(
                    f"{dataset} {algorithm.name}: average test cost {np.mean(costs):.3f} of "
                    f"{len(costs)} result{'s' * (len(costs) > 1)}; {self._progress()}"
                )

    def _progress(self) -> str:
        """Says how many of the planned results are on disk."""
        planned, sources = self.planned(), map(self._source, self.profile.datasets)
        done = sum(len(self.folder.costs(it, name)) for it in sources for name in planned)
        return f"{done} of {len(self.profile.datasets) * sum(planned.values())} are there"

    def _choose(self, dataset: str, algorithm: Algorithm) -> list[Settings]:
        """Makes the choices of an algorithm, one field after the other.

        Returns:
            The chosen settings, then all others that did not diverge, the best first; none if a
            value could not be tried.
        """
        settings, tried = self.profile.settings_on(dataset), list[_Trial]()
        for searches in self.profile.rounds(algorithm):
            trials = self._search(self._cell(dataset, algorithm, settings), searches)
            if trials is None:
                return []  # The runner has kept why.
            tried += trials
            best = min(trials, key=_rank)
            search, value, cell, row = best
            edge = search.edge([it[1] for it in trials if it[0] is search], value)
            rows = [it[3] | {"chosen": it is best, "edge": edge * (it is best)} for it in trials]
            self.folder.write_choices(rows, complete=True)
            settings = cell.settings
            self.tell(
                f"{dataset} {algorithm.name}: {row['parameter']} = {value}, validation "
                f"{row['criterion']} {row['validation']:.4f}"
            )
        ordered = [
            it[2].settings for it in sorted(tried, key=_rank) if it[3]["validation"] < math.inf
        ]
        return list(dict.fromkeys([settings, *ordered]))

    def _search(self, start: Cell, searches: Sequence[Search]) -> "list[_Trial] | None":
        """Tries the values of one choice, and those beyond as long as the best is at an edge."""
        trials = list[_Trial]()
        waiting = [(search, value) for search in searches for value in search.values]
        while waiting:
            new = self._try(start, waiting, trials)
            if len(new) < len(waiting):
                return None
            trials += new
            waiting = []
            for search in searches:
                own = [it for it in trials if it[0] is search]
                value = search.next_value([it[1] for it in own], min(own, key=_rank)[1])
                if value is not None:
                    waiting.append((search, value))
        return trials

    def _try(
        self, start: Cell, values: Sequence[tuple[Search, Any]], before: "Sequence[_Trial]"
    ) -> "list[_Trial]":
        """Returns a trial for each value, unless it fails; each is on disk at once."""
        cells = {
            dataclasses.replace(start, settings=start.settings.replace(search.choices(value))): (
                search,
                value,
            )
            for search, value in values
        }
        found = dict[Cell, _Trial]()
        for cell, (search, value) in cells.items():
            row = self.folder.find("choices.csv", [cell])
            if row is not None:
                old: dict[str, Any] = dict(row)
                for name in ("validation", "train_seconds", "test_cost", "test_cost_error"):
                    old[name] = float(old[name])
                old["collapsed"] = old["collapsed"] == "True"
                found[cell] = search, value, cell, old | _asked(search, value, cell)
        for outcome in self._outcomes(cell for cell in cells if cell not in found):
            cell = outcome.cell
            search, value = cells[cell]
            found[cell] = search, value, cell, _tried(outcome) | _asked(search, value, cell)
            if _on_curve(search, cell):
                self.folder.write_point(outcome)
            rows = [it[3] for it in (*before, *found.values())]
            self.folder.write_choices(rows, complete=False)
        return [found[cell] for cell in cells if cell in found]

    def _finish(
        self, dataset: str, algorithm: Algorithm, ranking: Sequence[Settings], number: int
    ) -> None:
        """Writes the first results of an algorithm that are missing, as many as `number`."""
        tries = [self._final(dataset, algorithm, it)[:number] for it in ranking[:_MOST_TRIED]]
        places = [it for it in zip(*tries, strict=True) if not self.folder.find("results.csv", it)]
        collapsed: dict[tuple[int, int], Outcome] = {}
        for again in range(len(tries)):
            for outcome in self._outcomes(place[again] for place in places):
                key = outcome.cell.cost_seed, outcome.cell.seed
                if outcome.collapsed:
                    collapsed.setdefault(key, outcome)
                elif self._write(outcome, again):
                    collapsed.pop(key, None)
            places = [it for it in places if (it[0].cost_seed, it[0].seed) in collapsed]
        for outcome in collapsed.values():
            self._write(outcome)

    def _write(self, outcome: Outcome, tried_again: int = 0) -> bool:
        """Writes a result; tells whether that worked."""
        first = (outcome.cell.cost_seed, outcome.cell.seed) == (FIRST_COST_SEED, self.seed)
        with self.runner.failures.step(outcome.cell.name):
            self.folder.write_result(outcome, tried_again, curve=first)
            return True
        return False

    def _double(self, dataset: str, algorithm: Algorithm, ranking: Sequence[Settings]) -> None:
        """Trains the first cell of an algorithm as in its result, but with twice the epochs."""
        cells = [self._cell(dataset, algorithm, it) for it in ranking]
        written = [it.settings for it in cells if self.folder.find("results.csv", [it])]
        names = [f"{algorithm.body}.{it}" for it in ("epochs", "patience")]
        if not written or not {*names} <= {*written[0].names(algorithm)}:
            return
        values = [written[0].columns(algorithm)[column(name)] for name in names]
        twice = {name: 2 * it for name, it in zip(names, values, strict=True) if it is not None}
        cell = self._cell(dataset, algorithm, written[0].replace(twice))
        if not self.folder.find("doubled.csv", [cell]):
            for outcome in self._outcomes([cell]):
                with self.runner.failures.step(f"{cell.name} with twice the epochs"):
                    self.folder.write_doubled(outcome)

    def _outcomes(self, cells: Iterable[Cell]) -> Iterator[Outcome]:
        """Runs what is missing of cells; those that fail are left out."""
        for outcome in self.runner.run(cells):
            cell = outcome.cell
            seed = f" seed {cell.seed}" if cell.seed else ""
            self.tell(
                f"{datetime.datetime.now():%H:%M:%S} {cell.name}{seed}: average cost "
                f"{outcome.test_costs.mean():.3f}, error {outcome.test_error:.1%}, "
                f"{outcome.train_seconds:.0f} s"
            )
            yield outcome
            self.check()

    def _source(self, dataset: str, train_size: int | None = None) -> DataSource:
        return DataSource.parse(
            dataset, train_size=train_size, seed=self.seed, **self.source_choices
        )

    def _cell(
        self, dataset: str, algorithm: Algorithm, settings: Settings, seed: int = 0, matrix: int = 0
    ) -> Cell:
        images = algorithm.body_kind.takes_images
        size = self.profile.cnn_train_size if images else self.profile.train_size
        source, matrix = self._source(dataset, size), FIRST_COST_SEED + matrix
        return Cell(source, algorithm, matrix, settings, self.cost_scale, self.seed + seed)

    def _places(self, algorithm: Algorithm) -> list[tuple[int, int]]:
        """Returns the number of the training seed and that of the cost matrix of each result."""
        matrices = range(self.profile.matrices(algorithm))
        return [(seed, matrix) for seed in range(self.profile.seeds) for matrix in matrices]

    def _final(self, dataset: str, algorithm: Algorithm, settings: Settings) -> list[Cell]:
        """Returns the cells of the results, those of the first seed first."""
        return [
            self._cell(dataset, algorithm, settings, *place) for place in self._places(algorithm)
        ]


#: A value that a search tried, the cell that tried it, and its row of `choices.csv`.
_Trial = tuple[Search, Any, Cell, dict[str, Any]]


def _rank(trial: _Trial) -> tuple[bool, bool, float]:
    """The order of trials, the best one first; those that diverged or collapsed come last."""
    row = trial[3]
    return math.isinf(row["validation"]), row["collapsed"], row["validation"]


def _tried(outcome: Outcome) -> dict[str, Any]:
    """Returns what a row of `choices.csv` says of an outcome."""
    costs = outcome.test_costs
    with np.errstate(invalid="ignore"):  # infinite costs have no standard error
        error = float(costs.std(ddof=1) / len(costs) ** 0.5)
    return {
        "criterion": outcome.criterion_name,
        "validation": outcome.criterion,
        "collapsed": outcome.collapsed,
        "epochs": outcome.epochs,
        "train_seconds": outcome.train_seconds,
        "test_cost": float(costs.mean()),
        "test_cost_error": error,
    }


def _asked(search: Search, value: object, cell: Cell) -> dict[str, Any]:
    """Returns what a row of `choices.csv` says of a value that is tried, not chosen yet."""
    given = ",".join(f"{column(name)}={it}" for name, it in search.given.items())
    asked = {"parameter": column(search.field), "value": value, "given": given}
    return {**cell.place, **asked, "chosen": False, "edge": "", "cell": cell.key}


def _on_curve(search: Search, cell: Cell) -> bool:
    return (search.field, cell.algorithm.name) == ("pretraining.beta", CURVE_ALGORITHM)
