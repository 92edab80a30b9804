"""The grid of the paper's Table 2: algorithms by data sets and cost matrices."""

import dataclasses
import functools
import pathlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from csdl_keras.experiments.cell import Cell
from csdl_keras.experiments.choice import Choice
from csdl_keras.experiments.compare import FIRST_COST_SEED
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.experiments.failures import Failures
from csdl_keras.experiments.grid_files import GridFiles, on_curve
from csdl_keras.experiments.outcome import Outcome
from csdl_keras.experiments.profiles import Profile
from csdl_keras.experiments.stage_runner import run_stages
from csdl_keras.fitting.stage_cache import StageCache
from csdl_keras.training.algorithms import get_algorithm
from csdl_keras.training.settings import Settings

Chosen = dict[str, Settings]
#: The choice whose curve over all its values is kept.
_BETA = "pretraining.beta"


class Watcher(Protocol):
    """What a grid tells about its progress."""

    def finished(self, cell: Cell, stage: str, seconds: float, left: Sequence[Cell]) -> None:
        """A stage has run; `left` are the cells that this data set may still need."""

    def chosen(self, dataset: str, choices: Sequence[Choice]) -> None:
        """Values have been chosen on validation."""

    def complete(self, dataset: str, outcomes: Sequence[Outcome]) -> None:
        """All results of a data set are on disk."""


@dataclasses.dataclass
class Grid:
    """Runs algorithms for several cost matrices on several data sets, stages shared.

    Values of the profile's grids are chosen for each row on the validation
    examples and the first cost matrix, one field after the other, and then
    kept for the other matrices. Cost-blind rows choose by the error rate.

    Args:
        profile: sizes, data sets, algorithms, what to choose from.
        folder: where results go.
        cache: folder of the stage cache.
        cost_scale: `scale` of `randomized_proportional`.
        seed: seed of training and of the imbalanced variants.
        source_choices: further arguments of each `DataSource`.
    """

    profile: Profile
    folder: pathlib.Path
    cache: pathlib.Path
    cost_scale: float = 10.0
    seed: int = 0
    source_choices: dict[str, Any] = dataclasses.field(default_factory=dict)

    def run(self, watcher: Watcher) -> Failures:
        """Runs what is missing, data set after data set; each result is on disk as it comes.

        Returns:
            What failed; its results are missing, all others are there.

        Raises:
            ValueError: if the folder holds damaged results, or of another kind; nothing is
                trained then.
        """
        files, failures = GridFiles(self.folder), Failures()
        for dataset in self.profile.datasets:
            with failures.step(dataset):
                self._run_dataset(dataset, files, watcher, failures)
        return failures

    def _run_dataset(
        self, dataset: str, files: GridFiles, watcher: Watcher, failures: Failures
    ) -> None:
        chosen = {name: self.profile.settings for name in self.profile.algorithms}
        matrices = {cell.cost_seed: cell.matrix for cell in self._final(dataset, chosen)}
        files.check(self._source(dataset), matrices)
        choices: list[Choice] = []
        curve: list[Outcome] = []
        for round_index in range(self._rounds()):
            candidates = self._candidates(dataset, chosen, round_index)
            cells = [cell for _, _, cell in candidates]
            left = [*cells, *self.cells(dataset, chosen, round_index + 1)]
            for name in self._run(cells, left, watcher, failures):
                chosen.pop(name, None)
            for name in dict.fromkeys(cell.algorithm for cell in cells if cell.algorithm in chosen):
                before = chosen.pop(name)
                with failures.step(f"{dataset} {name}"):
                    tried = [
                        (field, value, self._outcome(cell))
                        for field, value, cell in candidates
                        if cell.algorithm == name
                    ]
                    best = int(np.argmin([outcome.criterion for *_, outcome in tried]))
                    made = [
                        Choice.of(outcome, field, value, index == best)
                        for index, (field, value, outcome) in enumerate(tried)
                    ]
                    field, value, _ = tried[best]
                    chosen[name] = before.replace({field: value})
                    choices += made
                    curve += [it for field, _, it in tried if field == _BETA and on_curve(it)]
                    watcher.chosen(dataset, [choice for choice in made if choice.chosen])
        # Rows of which a later round failed keep what an earlier run has written of them.
        choices = [choice for choice in choices if choice.algorithm in chosen]
        curve = [outcome for outcome in curve if outcome.cell.algorithm in chosen]
        with failures.step(f"{dataset}, choices.csv and beta_curve.csv,"):
            files.write_choices(self._source(dataset), list(chosen), choices, curve)
        self._run_final(dataset, chosen, files, watcher, failures)

    def _run_final(
        self, dataset: str, chosen: Chosen, files: GridFiles, watcher: Watcher, failures: Failures
    ) -> None:
        """Runs the rows with what was chosen for all matrices, and writes each result at once."""
        cells = list(self._final(dataset, chosen))
        written: dict[Cell, Outcome] = {}
        sharing: dict[str, list[Cell]] = defaultdict(list)

        def write(finished: Sequence[Cell]) -> None:
            for cell in finished:
                with failures.step(_part(cell)):
                    outcome = self._outcome(cell)
                    files.write_result(outcome)
                    written[cell] = outcome

        for cell in cells:
            with failures.step(_part(cell)):
                description = cell.stages(self.cache)["decisions"]
                sharing[StageCache.key(description)].append(cell)
                if description in self._stages:
                    write([cell])

        def on_decisions(cell: Cell) -> None:
            write(next(group for group in sharing.values() if cell in group))

        self._run(cells, cells, watcher, failures, on_decisions)
        watcher.complete(dataset, [written[cell] for cell in cells if cell in written])

    def cells(self, dataset: str, chosen: Chosen | None = None, start: int = 0) -> list[Cell]:
        """The cells that a data set needs from a round of choices on, if choices were as `chosen`.

        Args:
            dataset: the data set.
            chosen: settings of each algorithm; `None` (default) is the profile's.
            start: the first round of choices that counts. Defaults to 0.
        """
        if chosen is None:
            chosen = {name: self.profile.settings for name in self.profile.algorithms}
        candidates = [
            cell
            for index in range(start, self._rounds())
            for _, _, cell in self._candidates(dataset, chosen, index)
        ]
        return [*candidates, *self._final(dataset, chosen)]

    def _rounds(self) -> int:
        rows = map(get_algorithm, self.profile.algorithms)
        return max(len(self.profile.parameters(row)) for row in rows)

    def _source(self, dataset: str, train_size: int | None = None) -> DataSource:
        return DataSource.parse(
            dataset, train_size=train_size, seed=self.seed, **self.source_choices
        )

    def _cell(self, dataset: str, name: str, cost_seed: int, settings: Settings) -> Cell:
        row = get_algorithm(name)
        images = row.body_kind.takes_images
        size = self.profile.cnn_train_size if images else self.profile.train_size
        source = self._source(dataset, size)
        return Cell(source, row.name, cost_seed, settings, self.cost_scale, self.seed)

    def _candidates(
        self, dataset: str, chosen: Chosen, round_index: int
    ) -> list[tuple[str, Any, Cell]]:
        """Field, value and cell of everything that a round chooses from."""
        found = []
        for name in chosen:
            fields = self.profile.parameters(get_algorithm(name))
            if round_index >= len(fields):
                continue
            field = fields[round_index]
            for value in self.profile.grids[field]:
                settings = chosen[name].replace({field: value})
                found.append((field, value, self._cell(dataset, name, FIRST_COST_SEED, settings)))
        return found

    def _final(self, dataset: str, chosen: Chosen) -> Iterator[Cell]:
        for name in chosen:
            for index in range(self.profile.matrices(get_algorithm(name))):
                yield self._cell(dataset, name, FIRST_COST_SEED + index, chosen[name])

    def _run(
        self,
        cells: list[Cell],
        left: list[Cell],
        watcher: Watcher,
        failures: Failures,
        on_decisions: Callable[[Cell], None] = lambda cell: None,
    ) -> set[str]:
        """Runs what is missing of cells; returns the algorithms of those that failed."""

        def on_finished(cell: Cell, stage: str, seconds: float) -> None:
            watcher.finished(cell, stage, seconds, left)
            if stage == "decisions":
                on_decisions(cell)

        failed = run_stages(cells, self.cache, on_finished)
        for cell, error in failed.items():
            failures.add(_part(cell), error)
        return {cell.algorithm for cell in failed}

    @functools.cached_property
    def _stages(self) -> StageCache:
        return StageCache(self.cache)

    def _outcome(self, cell: Cell) -> Outcome:
        found = self._stages.find(cell.stages(self.cache)["decisions"])
        if found is None:
            raise RuntimeError(f"The decisions of {cell} are no longer in {self.cache}.")
        return Outcome.of(cell, found)


def _part(cell: Cell) -> str:
    return f"{cell.source.label} {cell.algorithm}"
