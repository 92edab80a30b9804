"""The grid of the paper's Table 2: algorithms by data sets and cost matrices."""

import dataclasses
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from csdl_keras.algorithms import get_algorithm
from csdl_keras.experiments.cell import Cell
from csdl_keras.experiments.choice import Choice
from csdl_keras.experiments.compare import FIRST_COST_SEED
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.experiments.grid_files import GridFiles, on_curve
from csdl_keras.experiments.outcome import Outcome
from csdl_keras.experiments.profiles import Profile
from csdl_keras.experiments.stage_runner import run_stages
from csdl_keras.settings import Settings
from csdl_keras.stage_cache import StageCache

Chosen = dict[str, Settings]


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

    def run(self, watcher: Watcher) -> None:
        """Runs what is missing, data set after data set; results are on disk after each."""
        files = GridFiles(self.folder)
        for dataset in self.profile.datasets:
            chosen = {name: self.profile.settings for name in self.profile.algorithms}
            choices: list[Choice] = []
            curve: list[Outcome] = []
            for round_index in range(self._rounds()):
                candidates = self._candidates(dataset, chosen, round_index)
                left = self.cells(dataset, chosen, round_index + 1)
                cells = [cell for _, _, cell in candidates]
                self._run(cells, [*cells, *left], watcher)
                tried = [(field, value, self._outcome(cell)) for field, value, cell in candidates]
                made = self._choose(tried, chosen)
                choices += made
                curve += [it for field, _, it in tried if field == "beta" and on_curve(it)]
                watcher.chosen(dataset, [choice for choice in made if choice.chosen])
            cells = list(self._final(dataset, chosen))
            self._run(cells, cells, watcher)
            outcomes = [self._outcome(cell) for cell in cells]
            files.write(outcomes, choices, curve)
            watcher.complete(dataset, outcomes)

    def cells(self, dataset: str, chosen: Chosen | None = None, start: int = 0) -> list[Cell]:
        """The cells that a data set needs from a round of choices on, if choices were as `chosen`.

        Args:
            dataset: the data set.
            chosen: settings of each algorithm; `None` (default) is the profile's.
            start: the first round of choices that counts. Defaults to 0.
        """
        chosen = chosen or {name: self.profile.settings for name in self.profile.algorithms}
        candidates = [
            cell
            for index in range(start, self._rounds())
            for _, _, cell in self._candidates(dataset, chosen, index)
        ]
        return [*candidates, *self._final(dataset, chosen)]

    def _rounds(self) -> int:
        rows = map(get_algorithm, self.profile.algorithms)
        return max(len(self.profile.parameters(row)) for row in rows)

    def _cell(self, dataset: str, name: str, cost_seed: int, settings: Settings) -> Cell:
        row = get_algorithm(name)
        size = self.profile.cnn_train_size if row.body == "cnn" else self.profile.train_size
        source = DataSource.parse(dataset, train_size=size, seed=self.seed, **self.source_choices)
        return Cell(source, row.name, cost_seed, settings, self.cost_scale, self.seed)

    def _candidates(
        self, dataset: str, chosen: Chosen, round_index: int
    ) -> list[tuple[str, Any, Cell]]:
        """Field, value and cell of everything that a round chooses from."""
        found = []
        for name in self.profile.algorithms:
            fields = self.profile.parameters(get_algorithm(name))
            if round_index >= len(fields):
                continue
            field = fields[round_index]
            for value in self.profile.grids[field]:
                settings = dataclasses.replace(chosen[name], **{field: value})
                found.append((field, value, self._cell(dataset, name, FIRST_COST_SEED, settings)))
        return found

    def _choose(self, tried: list[tuple[str, Any, Outcome]], chosen: Chosen) -> list[Choice]:
        """Chooses for each algorithm, in `chosen`; returns what was tried."""
        made = []
        for name in dict.fromkeys(outcome.cell.algorithm for *_, outcome in tried):
            own = [entry for entry in tried if entry[2].cell.algorithm == name]
            best = int(np.argmin([outcome.criterion for *_, outcome in own]))
            chosen[name] = own[best][2].cell.settings
            made += [
                Choice.of(outcome, field, value, index == best)
                for index, (field, value, outcome) in enumerate(own)
            ]
        return made

    def _final(self, dataset: str, chosen: Chosen) -> Iterator[Cell]:
        for name in self.profile.algorithms:
            for index in range(self.profile.matrices(get_algorithm(name))):
                yield self._cell(dataset, name, FIRST_COST_SEED + index, chosen[name])

    def _run(self, cells: list[Cell], left: list[Cell], watcher: Watcher) -> None:
        run_stages(
            cells,
            self.cache,
            lambda cell, stage, seconds: watcher.finished(cell, stage, seconds, left),
        )

    def _outcome(self, cell: Cell) -> Outcome:
        found = StageCache(self.cache).find(cell.stages(self.cache)["decisions"])
        if found is None:
            raise RuntimeError(f"The decisions of {cell} are no longer in {self.cache}.")
        return Outcome.of(cell, found)
