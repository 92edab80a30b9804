"""The grid of the paper's Table 2: algorithms by data sets, cost matrices and training seeds."""

import dataclasses
import pathlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from csdl_keras.experiments.cell import FIRST_COST_SEED, Cell, Outcome
from csdl_keras.experiments.cell_runner import CellRunner, Watcher
from csdl_keras.experiments.choice import Choice
from csdl_keras.experiments.choosing import Choosing
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.experiments.failures import Failures
from csdl_keras.experiments.files import GridFiles
from csdl_keras.experiments.profiles import Profile
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.settings import Settings

#: Most choices that are tried for a result, one after the other as they collapse.
_MOST_TRIED = 3


class GridWatcher(Watcher, Protocol):
    """Is told the progress of a grid."""

    def chosen(self, dataset: str, choice: Choice) -> None:
        """A value has been chosen on validation."""

    def complete(self, dataset: str, algorithm: str, costs: Sequence[float]) -> None:
        """All results of an algorithm on a data set are on disk, with these average test costs."""


@dataclasses.dataclass
class Grid:
    """Runs algorithms for several cost matrices and training seeds on several data sets.

    Values of the profile's searches are chosen for each algorithm on the validation examples,
    the first cost matrix and the first seed, see `choose`, and then kept. A result that
    collapses nevertheless is tried again with the next best values. Algorithms that verdicts
    need most come first, and for each data set the first matrix of all of them. What is in the
    files of the folder is not trained again, even if the cache no longer holds it.

    Args:
        profile: sizes, data sets, algorithms, and values to choose from.
        folder: folder of the results.
        runner: runs the cells; is told what fails.
        cost_scale: `scale` of `randomized_proportional`. Defaults to 10.
        seed: first seed of training, and seed of the imbalanced variants. Defaults to 0.
        source_choices: further arguments of each `DataSource`.
        doubled: whether to train one cell of each algorithm again with twice the epochs and
            patience. Defaults to False.
        check: called before each training; may raise an exception to end the run.
    """

    profile: Profile
    folder: pathlib.Path
    runner: CellRunner
    cost_scale: float = 10.0
    seed: int = 0
    source_choices: dict[str, Any] = dataclasses.field(default_factory=dict)
    doubled: bool = False
    check: Callable[[], None] = lambda: None

    def run(self, watcher: GridWatcher) -> Failures:
        """Runs what is missing, data set after data set; each result is on disk at once.

        Returns:
            What failed; its results are missing, all others are there.

        Raises:
            ValueError: if the folder holds damaged results, or results of another kind;
                nothing is trained then.
        """
        files = GridFiles(self.folder)
        for algorithms in filter(None, self.profile.tiers):
            for dataset in self.profile.datasets:
                with self.runner.failures.step(dataset):
                    self._run_dataset(dataset, algorithms, files, watcher)
        return self.runner.failures

    def planned(self) -> dict[str, int]:
        """Returns the number of results of each algorithm on a data set."""
        return {
            it.name: len(self._places(it)) for algorithms in self.profile.tiers for it in algorithms
        }

    def cells(self, dataset: str) -> list[Cell]:
        """Returns the cells that a data set needs, if nothing is chosen and nothing collapses."""
        settings = self.profile.settings_on(dataset)
        found = []
        for algorithm in (it for algorithms in self.profile.tiers for it in algorithms):
            for searches in self.profile.rounds(algorithm):
                found += [
                    self._cell(dataset, algorithm, settings.replace(search.choices(value)))
                    for search in searches
                    for value in search.values
                ]
            found += self._final(dataset, algorithm, settings)
        return found

    def _expect(self, watcher: GridWatcher, dataset: str, cells: Sequence[Cell]) -> None:
        """Tells how many stages are left; each data set to come has as many as this one in all."""
        left = len(self.runner.missing(cells))
        to_come = self.profile.datasets[self.profile.datasets.index(dataset) + 1 :]
        if to_come:
            left += len(to_come) * len(self.runner.stages(self.cells(dataset)))
        watcher.expect(left)

    def _run_dataset(
        self, dataset: str, algorithms: list[Algorithm], files: GridFiles, watcher: GridWatcher
    ) -> None:
        source = self._source(dataset)
        settings = self.profile.settings_on(dataset)
        cells = self._final(dataset, algorithms[0], settings)
        files.check(source, {cell.cost_seed: cell.matrix for cell in cells})
        self._expect(watcher, dataset, self.cells(dataset))
        chosen: dict[Algorithm, list[Settings]] = {}
        for algorithm in algorithms:
            with self.runner.failures.step(f"{dataset} {algorithm.name}"):
                ranking = self._choose(dataset, algorithm, files, watcher)
                if ranking:
                    chosen[algorithm] = ranking
                    self._finish(dataset, algorithm, ranking, 1, files, watcher)
        final = [it for pair in chosen.items() for it in self._final(dataset, pair[0], pair[1][0])]
        self._expect(watcher, dataset, final)
        for algorithm, ranking in chosen.items():
            places = len(self._places(algorithm))
            self._finish(dataset, algorithm, ranking, places, files, watcher)
            if self.doubled:
                self._double(dataset, algorithm, ranking, files, watcher)
            watcher.complete(dataset, algorithm.name, files.costs(source, algorithm.name))

    def _choose(
        self, dataset: str, algorithm: Algorithm, files: GridFiles, watcher: GridWatcher
    ) -> list[Settings]:
        """Returns the settings that were tried, the chosen ones first; none if that failed."""

        def make(settings: Settings) -> Cell:
            return self._cell(dataset, algorithm, settings)

        def outcomes(cells: Iterable[Cell]) -> Iterator[Outcome]:
            return self._outcomes(cells, watcher)

        choosing = Choosing(self.profile.settings_on(dataset), make, outcomes, files)
        for searches in self.profile.rounds(algorithm):
            choice = choosing.choose(searches)
            if choice is None:
                return []
            watcher.chosen(dataset, choice)
        return choosing.ranking

    def _finish(
        self,
        dataset: str,
        algorithm: Algorithm,
        ranking: Sequence[Settings],
        number: int,
        files: GridFiles,
        watcher: GridWatcher,
    ) -> None:
        """Writes the first results of an algorithm that are missing, as many as `number`."""
        tries = [self._final(dataset, algorithm, it)[:number] for it in ranking[:_MOST_TRIED]]
        places = [it for it in zip(*tries, strict=True) if not files.find("results.csv", it)]
        collapsed: dict[tuple[int, int], Outcome] = {}
        for again in range(len(tries)):
            waiting = [place[again] for place in places]
            for outcome in self._outcomes(waiting, watcher):
                cell = outcome.cell
                key = cell.cost_seed, cell.seed
                with self.runner.failures.step(cell.name):
                    if outcome.collapsed:
                        collapsed.setdefault(key, outcome)
                        continue
                    files.write_result(outcome, again, curve=self._is_first(cell))
                    collapsed.pop(key, None)
            places = [it for it in places if (it[0].cost_seed, it[0].seed) in collapsed]
        for outcome in collapsed.values():
            with self.runner.failures.step(outcome.cell.name):
                files.write_result(outcome, curve=self._is_first(outcome.cell))

    def _double(
        self,
        dataset: str,
        algorithm: Algorithm,
        ranking: Sequence[Settings],
        files: GridFiles,
        watcher: GridWatcher,
    ) -> None:
        """Trains the first cell of an algorithm as in its result, but with twice the epochs."""
        cells = [self._cell(dataset, algorithm, it) for it in ranking]
        written = [it.settings for it in cells if files.find("results.csv", [it])]
        names = [f"{algorithm.body}.{it}" for it in ("epochs", "patience")]
        if not written or not {*names} <= {*written[0].names(algorithm)}:
            return
        settings = written[0]
        values = [settings.columns(algorithm)[name.rpartition(".")[2]] for name in names]
        twice = {name: 2 * it for name, it in zip(names, values, strict=True) if it is not None}
        cell = self._cell(dataset, algorithm, settings.replace(twice))
        if not files.find("doubled.csv", [cell]):
            for outcome in self._outcomes([cell], watcher):
                with self.runner.failures.step(f"{cell.name} with twice the epochs"):
                    files.write_doubled(outcome)

    def _outcomes(self, cells: Iterable[Cell], watcher: GridWatcher) -> Iterator[Outcome]:
        """Runs what is missing of cells; those that fail are left out."""
        for outcome, model in self.runner.run(cells):
            watcher.finished(outcome, found=model is None and outcome.diverged is None)
            yield outcome
            self.check()

    def _source(self, dataset: str, train_size: int | None = None) -> DataSource:
        return DataSource.parse(
            dataset, train_size=train_size, seed=self.seed, **self.source_choices
        )

    def _cell(
        self,
        dataset: str,
        algorithm: Algorithm,
        settings: Settings,
        seed: int = 0,
        matrix: int = 0,
    ) -> Cell:
        images = algorithm.body_kind.takes_images
        size = self.profile.cnn_train_size if images else self.profile.train_size
        source = self._source(dataset, size)
        matrix, seed = FIRST_COST_SEED + matrix, self.seed + seed
        return Cell(source, algorithm, matrix, settings, self.cost_scale, seed)

    def _places(self, algorithm: Algorithm) -> list[tuple[int, int]]:
        """Returns the number of the training seed and that of the cost matrix of each result."""
        matrices = range(self.profile.matrices(algorithm))
        return [(seed, matrix) for seed in range(self.profile.seeds) for matrix in matrices]

    def _final(self, dataset: str, algorithm: Algorithm, settings: Settings) -> list[Cell]:
        """Returns the cells of the results, those of the first seed first."""
        places = self._places(algorithm)
        return [self._cell(dataset, algorithm, settings, *place) for place in places]

    def _is_first(self, cell: Cell) -> bool:
        return (cell.cost_seed, cell.seed) == (FIRST_COST_SEED, self.seed)
