"""The grid of the paper's Table 2: algorithms, data sets, cost matrices and training seeds."""

import dataclasses
import datetime
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from csdl_keras.fitting.cache import StageCache
from csdl_keras.paper.cells import Cell, DataSource, Outcome, run_cells
from csdl_keras.paper.failures import Failures
from csdl_keras.paper.folder import CURVE_ALGORITHM, Folder
from csdl_keras.paper.profiles import HEADLINE, Profile, Search
from csdl_keras.training.algorithms import Algorithm, get_algorithm
from csdl_keras.training.settings import Settings, column
from csdl_keras_cli.choices import FIRST_COST_SEED

#: Maximum number of settings tried for a result, if the earlier ones collapse.
_MOST_TRIED = 3


@dataclasses.dataclass(frozen=True)
class _Trial:
    """A value tried by a search, with its cell and its row of `choices.csv`."""

    search: Search
    value: Any
    cell: Cell
    row: dict[str, Any]

    @property
    def rank(self) -> tuple[bool, bool, float]:
        """The sort key of trials: the best first, diverged and collapsed ones last."""
        validation = float(self.row["validation"])
        # Rows read from a file contain text.
        return math.isinf(validation), str(self.row["collapsed"]) == "True", validation


@dataclasses.dataclass
class Grid:
    """Runs the cells that the folder lacks, with settings chosen on the first matrix."""

    profile: Profile
    folder: Folder
    cache: StageCache
    cost_scale: float = 10.0
    seed: int = 0
    source_choices: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    doubled: bool = False
    failures: Failures = dataclasses.field(default_factory=Failures)
    tell: Callable[[str], object] = lambda text: None

    def run(self) -> Failures:
        """Runs missing cells, writes each result at once, and returns the failures."""
        for first in (True, False):
            names = [name for name in self.profile.algorithms if (name in HEADLINE) == first]
            for dataset, name in itertools.product(self.profile.datasets, names):
                with self.failures.step(f"{dataset} {name}"):
                    algorithm = get_algorithm(name)
                    ranking = self._choose(dataset, algorithm)
                    self._finish(dataset, algorithm, ranking)
                    if self.doubled and algorithm.body_kind.is_network:
                        self._double(dataset, algorithm, ranking)
        return self.failures

    def _choose(self, dataset: str, algorithm: Algorithm) -> list[Settings]:
        """Returns the chosen settings, and then others that did not diverge, the best first."""
        settings, tried = self.profile.settings_on(dataset), list[_Trial]()
        for searches in self.profile.rounds(algorithm):
            trials = self._search(self._cell(dataset, algorithm, settings), searches)
            tried += trials
            best = min(trials, key=lambda trial: trial.rank)
            values = [it.value for it in trials if it.search is best.search]
            best.row.update(chosen=True, edge=best.search.edge(values, best.value))
            self.folder.write_choices([it.row for it in trials])
            settings = best.cell.settings
            self.tell(
                f"{dataset} {algorithm.name}: {best.row['parameter']} = {best.value}, validation "
                f"{best.row['criterion']} {best.rank[-1]:.4f}"
            )
        tried.sort(key=lambda trial: trial.rank)
        others = [trial.cell.settings for trial in tried if not trial.rank[0]]
        return list(dict.fromkeys([settings, *others]))

    def _search(self, start: Cell, searches: Sequence[Search]) -> list[_Trial]:
        """Tries the values of one setting, and more beyond an edge as long as the best is there."""
        trials = list[_Trial]()
        waiting = [(search, value) for search in searches for value in search.values]
        while waiting:
            trials += self._try(start, waiting)
            waiting = []
            for search in searches:
                own = [it for it in trials if it.search is search]
                best = min(own, key=lambda trial: trial.rank)
                value = search.next_value([it.value for it in own], best.value)
                if value is not None:
                    waiting.append((search, value))
        return trials

    def _try(self, start: Cell, values: Sequence[tuple[Search, Any]]) -> list[_Trial]:
        cells, found = {}, dict[Cell, dict[str, Any]]()
        for search, value in values:
            settings = start.settings.replace({**search.given, search.field: value})
            cell = dataclasses.replace(start, settings=settings)
            cells[cell] = search, value
            row = self.folder.find("choices.csv", [cell])
            if row is not None:
                found[cell] = row
        for outcome in self._outcomes(cell for cell in cells if cell not in found):
            found[outcome.cell] = _tried(outcome)
            on_curve = cells[outcome.cell][0].field == "pretraining.beta"
            if on_curve and start.algorithm.name == CURVE_ALGORITHM:
                self.folder.write_point(outcome)
        if len(found) < len(cells):
            raise RuntimeError("not all values of its search could be tried")
        return [
            _Trial(search, value, cell, found[cell] | _asked(search, value, cell))
            for cell, (search, value) in cells.items()
        ]

    def _finish(self, dataset: str, algorithm: Algorithm, ranking: Sequence[Settings]) -> None:
        """Writes missing results; if one collapses, the next settings are tried."""
        numbers = range(self.profile.seeds), range(self.profile.cost_seeds)
        tries = [
            [self._cell(dataset, algorithm, settings, *it) for it in itertools.product(*numbers)]
            for settings in ranking[:_MOST_TRIED]
        ]
        places = [it for it in zip(*tries, strict=True) if not self.folder.find("results.csv", it)]
        collapsed: dict[tuple[int, int], Outcome] = {}
        for again in range(len(tries)):
            for outcome in self._outcomes(place[again] for place in places):
                key = outcome.cell.cost_seed, outcome.cell.seed
                first = collapsed.pop(key, outcome)
                if outcome.collapsed("val"):
                    collapsed[key] = first
                else:
                    self._write(outcome, again)
            places = [it for it in places if (it[0].cost_seed, it[0].seed) in collapsed]
        for outcome in collapsed.values():
            self._write(outcome)

    def _write(self, outcome: Outcome, tried_again: int = 0) -> None:
        first = (outcome.cell.cost_seed, outcome.cell.seed) == (FIRST_COST_SEED, self.seed)
        with self.failures.step(outcome.cell.name):
            self.folder.write_result(outcome, tried_again, curve=first)

    def _double(self, dataset: str, algorithm: Algorithm, ranking: Sequence[Settings]) -> None:
        """Trains the first existing result again, with twice the epochs and patience."""
        for cell in (self._cell(dataset, algorithm, settings) for settings in ranking):
            if self.folder.find("results.csv", [cell]):
                body, names = cell.settings.body_of(algorithm), ("epochs", "patience")
                limits = {f"{algorithm.body}.{it}": getattr(body, it) for it in names}
                twice = {name: 2 * it for name, it in limits.items() if it is not None}
                cell = dataclasses.replace(cell, settings=cell.settings.replace(twice))
                if not self.folder.find("doubled.csv", [cell]):
                    for outcome in self._outcomes([cell]):
                        self.folder.write_result(outcome, doubled=True)
                return

    def _outcomes(self, cells: Iterable[Cell]) -> Iterator[Outcome]:
        """Runs cells and yields their outcomes; failed ones are left out."""
        for outcome in run_cells(cells, self.cache, self.failures):
            seed = f" seed {outcome.cell.seed}" if outcome.cell.seed else ""
            self.tell(
                f"{datetime.datetime.now():%H:%M:%S} {outcome.cell.name}{seed}: average cost "
                f"{outcome.costs('test').mean():.3f}, error {outcome.error('test'):.1%}, "
                f"{outcome.train_seconds:.0f} s"
            )
            yield outcome

    def _cell(
        self, dataset: str, algorithm: Algorithm, settings: Settings, seed: int = 0, matrix: int = 0
    ) -> Cell:
        images = algorithm.body_kind.takes_images
        size = self.profile.cnn_train_size if images else self.profile.train_size
        name, cost_seed = dataset.removesuffix("_imb"), FIRST_COST_SEED + matrix
        source = DataSource(name, name != dataset, size, self.seed, **self.source_choices)
        return Cell(source, algorithm, cost_seed, settings, self.cost_scale, self.seed + seed)


def _tried(outcome: Outcome) -> dict[str, Any]:
    costs, (criterion, validation) = outcome.costs("test"), outcome.criterion
    return {
        "criterion": criterion,
        "validation": validation,
        "collapsed": outcome.collapsed("val"),
        "epochs": outcome.epochs,
        "train_seconds": outcome.train_seconds,
        "test_cost": float(costs.mean()),
        # Infinite costs have no standard error.
        "test_cost_error": float(costs.std(ddof=1) / len(costs) ** 0.5)
        if outcome.decisions
        else math.nan,
    }


def _asked(search: Search, value: object, cell: Cell) -> dict[str, Any]:
    """Returns the columns of `choices.csv` for a tried value."""
    given = ",".join(f"{column(name)}={it}" for name, it in search.given.items())
    asked = {"parameter": column(search.field), "value": value, "given": given}
    return {**cell.place, **asked, "chosen": False, "edge": "", "cell": cell.key}
