"""The grid of the paper's Table 2: algorithms by data sets and cost matrices."""

import dataclasses
import pathlib
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from csdl_keras.experiments.cell import FIRST_COST_SEED, Cell, Outcome
from csdl_keras.experiments.cell_runner import CellRunner, Watcher
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.experiments.failures import Failures
from csdl_keras.experiments.files import CURVE_ALGORITHM, GridFiles
from csdl_keras.experiments.profiles import Profile
from csdl_keras.experiments.results import Choice
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.algorithms import get_algorithm
from csdl_keras.training.settings import Settings

Chosen = dict[Algorithm, Settings]
#: The choice whose curve over all its values is kept.
_BETA = "pretraining.beta"


class GridWatcher(Watcher, Protocol):
    """Is told the progress of a grid."""

    def chosen(self, dataset: str, choices: Sequence[Choice]) -> None:
        """Values have been chosen on validation."""

    def complete(self, outcomes: Sequence[Outcome]) -> None:
        """All results of a data set are on disk."""


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A value to choose from, and the cell that tries it."""

    field: str
    value: Any
    cell: Cell


@dataclasses.dataclass
class Grid:
    """Runs algorithms for several cost matrices on several data sets.

    Values of the profile's grids are chosen for each algorithm on the validation
    examples and the first cost matrix, one field after the other, and then
    kept for the other matrices. Cost-blind algorithms choose by the error rate.

    Args:
        profile: sizes, data sets, algorithms, and values to choose from.
        folder: folder of the results.
        runner: runs the cells; is told what fails.
        cost_scale: `scale` of `randomized_proportional`. Defaults to 10.
        seed: seed of training and of the imbalanced variants. Defaults to 0.
        source_choices: further arguments of each `DataSource`.
    """

    profile: Profile
    folder: pathlib.Path
    runner: CellRunner
    cost_scale: float = 10.0
    seed: int = 0
    source_choices: dict[str, Any] = dataclasses.field(default_factory=dict)

    def run(self, watcher: GridWatcher) -> Failures:
        """Runs what is missing, data set after data set; each result is on disk at once.

        Returns:
            What failed; its results are missing, all others are there.

        Raises:
            ValueError: if the folder holds damaged results, or results of another kind;
                nothing is trained then.
        """
        files = GridFiles(self.folder)
        for dataset in self.profile.datasets:
            with self.runner.failures.step(dataset):
                self._run_dataset(dataset, files, watcher)
        return self.runner.failures

    def cells(self, dataset: str, chosen: Chosen | None = None, start: int = 0) -> list[Cell]:
        """Returns the cells that a data set needs, if nothing but `chosen` is chosen.

        Args:
            dataset: the data set.
            chosen: settings of each algorithm; `None` (default) is the profile's.
            start: the first round of choices to count. Defaults to 0.
        """
        settings = self._unchosen() if chosen is None else chosen
        candidates = [
            candidate.cell
            for index in range(start, self._rounds())
            for candidate in self._candidates(dataset, settings, index)
        ]
        return [*candidates, *self._final(dataset, settings)]

    def _expect(self, watcher: GridWatcher, dataset: str, chosen: Chosen, start: int) -> None:
        """Tells how many stages are left; each data set to come has as many as this one in all."""
        left = len(self.runner.missing(self.cells(dataset, chosen, start)))
        to_come = self.profile.datasets[self.profile.datasets.index(dataset) + 1 :]
        if to_come:
            left += len(to_come) * len(self.runner.stages(self.cells(dataset)))
        watcher.expect(left)

    def _run_dataset(self, dataset: str, files: GridFiles, watcher: GridWatcher) -> None:
        chosen = self._unchosen()
        source = self._source(dataset)
        files.check(source, {cell.cost_seed: cell.matrix for cell in self._final(dataset, chosen)})
        choices: list[Choice] = []
        curve: list[Outcome] = []
        for index in range(self._rounds()):
            candidates = self._candidates(dataset, chosen, index)
            self._expect(watcher, dataset, chosen, index)
            outcomes = self._outcomes((candidate.cell for candidate in candidates), watcher)
            for algorithm in dict.fromkeys(candidate.cell.algorithm for candidate in candidates):
                settings = chosen.pop(algorithm)
                tried = [it for it in candidates if it.cell.algorithm == algorithm]
                if not all(candidate.cell in outcomes for candidate in tried):
                    continue  # the runner has kept why
                with self.runner.failures.step(f"{dataset} {algorithm.name}"):
                    found = [outcomes[candidate.cell] for candidate in tried]
                    best = int(np.argmin([outcome.criterion for outcome in found]))
                    made = [
                        Choice.of(outcome, it.field, it.value, number == best)
                        for number, (it, outcome) in enumerate(zip(tried, found, strict=True))
                    ]
                    field, value = tried[best].field, tried[best].value
                    chosen[algorithm] = settings.replace({field: value})
                    choices += made
                    if (field, algorithm.name) == (_BETA, CURVE_ALGORITHM):
                        curve += found
                    watcher.chosen(dataset, [choice for choice in made if choice.chosen])
        # Algorithms of which a later choice failed keep what an earlier run has written of them.
        names = [algorithm.name for algorithm in chosen]
        choices = [choice for choice in choices if choice.algorithm in names]
        curve = [outcome for outcome in curve if outcome.cell.algorithm in chosen]
        with self.runner.failures.step(f"{dataset}, choices.csv and beta_curve.csv,"):
            files.write_choices(source, names, choices, curve)
        self._expect(watcher, dataset, chosen, self._rounds())
        final = self._final(dataset, chosen)
        written = self._outcomes(final, watcher, files)
        watcher.complete([written[cell] for cell in final if cell in written])

    def _outcomes(
        self, cells: Iterable[Cell], watcher: GridWatcher, files: GridFiles | None = None
    ) -> dict[Cell, Outcome]:
        """Runs what is missing of cells, and writes the results; returns the outcomes there are."""
        outcomes = {}
        for outcome, model in self.runner.run(cells):
            with self.runner.failures.step(outcome.cell.name):
                if files is not None:
                    files.write_result(outcome)
                outcomes[outcome.cell] = outcome
                watcher.finished(outcome, found=model is None and outcome.diverged is None)
        return outcomes

    def _unchosen(self) -> Chosen:
        return dict.fromkeys(map(get_algorithm, self.profile.algorithms), self.profile.settings)

    def _rounds(self) -> int:
        return max(len(self.profile.parameters(algorithm)) for algorithm in self._unchosen())

    def _source(self, dataset: str, train_size: int | None = None) -> DataSource:
        return DataSource.parse(
            dataset, train_size=train_size, seed=self.seed, **self.source_choices
        )

    def _cell(self, dataset: str, algorithm: Algorithm, cost_seed: int, settings: Settings) -> Cell:
        images = algorithm.body_kind.takes_images
        size = self.profile.cnn_train_size if images else self.profile.train_size
        source = self._source(dataset, size)
        return Cell(source, algorithm, cost_seed, settings, self.cost_scale, self.seed)

    def _candidates(self, dataset: str, chosen: Chosen, index: int) -> list[Candidate]:
        """Returns the candidates of a round, in which each algorithm chooses one field."""
        found = []
        for algorithm, settings in chosen.items():
            for field in self.profile.parameters(algorithm)[index : index + 1]:
                for value in self.profile.grids[field]:
                    changed = settings.replace({field: value})
                    cell = self._cell(dataset, algorithm, FIRST_COST_SEED, changed)
                    found.append(Candidate(field, value, cell))
        return found

    def _final(self, dataset: str, chosen: Chosen) -> list[Cell]:
        """Returns the cells of the results."""
        return [
            self._cell(dataset, algorithm, FIRST_COST_SEED + index, settings)
            for algorithm, settings in chosen.items()
            for index in range(self.profile.matrices(algorithm))
        ]
