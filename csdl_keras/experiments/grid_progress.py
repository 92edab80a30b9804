"""What a grid shows while it runs."""

import datetime
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from csdl_keras.costs import randomized_proportional
from csdl_keras.experiments.cell import STAGES, Cell
from csdl_keras.experiments.choice import Choice
from csdl_keras.experiments.grid import Grid
from csdl_keras.experiments.outcome import Outcome
from csdl_keras.fitting.stage_cache import StageCache
from csdl_keras.training.recipe import Recipe

Kind = tuple[str, str]


class GridProgress:
    """A bar over the stages of the grid with the time left, and a line for each stage that ran.

    How many stages there will be follows from the profile; how long they will
    take, from those of the same kind that have run.

    Args:
        console: where to print.
        grid: the grid.
        jobs: number of processes.
    """

    def __init__(self, console: Console, grid: Grid, jobs: int = 1):
        self.jobs = jobs
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("stages"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}", markup=False),
            console=console,
        )
        self._later = {name: expected(grid.cells(name)) for name in grid.profile.datasets}
        self._trained = 0
        self._seconds: dict[Kind, list[float]] = defaultdict(list)
        self._seen: set[str] = set()
        self._task = self.progress.add_task("grid", total=self._total(), left="")

    def __enter__(self) -> "GridProgress":
        self.progress.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.progress.stop()

    @property
    def trained(self) -> int:
        """Stages of training and pre-training that ran, and were not found in the cache."""
        return self._trained

    def finished(self, cell: Cell, stage: str, seconds: float, left: Sequence[Cell]) -> None:
        """Counts a stage and prints what it took."""
        dataset = _dataset(cell)
        self._trained += stage != "decisions"
        self._seconds[stage, str(cell.row.body)].append(seconds)
        self._seen.add(_keys(cell)[stage])
        self._later[dataset] = {
            key: kind for key, kind in expected(left).items() if key not in self._seen
        }
        minutes = self._left() / 60 / self.jobs
        self.progress.update(
            self._task,
            description=dataset,
            completed=len(self._seen),
            total=self._total(),
            left=f"about {minutes:.0f} min left" if minutes >= 1 else "",
        )
        self.progress.console.print(
            f"{datetime.datetime.now():%H:%M:%S} {dataset} {cell.algorithm}, matrix "
            f"{cell.cost_seed}: {stage}, {seconds:.1f} s; {len(self._seen)} of "
            f"{self._total():.0f} stages, {minutes:.0f} min left",
            soft_wrap=True,
        )

    def chosen(self, dataset: str, choices: Sequence[Choice]) -> None:
        """Prints what was chosen on validation."""
        for choice in choices:
            self.progress.console.print(
                f"{dataset} {choice.algorithm}: {choice.parameter} = {choice.value}, validation "
                f"{choice.criterion} {choice.validation:.4f}",
                soft_wrap=True,
            )

    def complete(self, dataset: str, outcomes: Sequence[Outcome]) -> None:
        """Drops what the data set no longer needs, and prints its averages."""
        self._later[dataset] = {}
        self.progress.update(self._task, total=self._total(), completed=len(self._seen))
        for name in dict.fromkeys(outcome.cell.algorithm for outcome in outcomes):
            costs = [o.test_costs.mean() for o in outcomes if o.cell.algorithm == name]
            self.progress.console.print(
                f"{dataset} {name}: average test cost {np.mean(costs):.3f} over "
                f"{len(costs)} matrices",
                soft_wrap=True,
            )

    def _total(self) -> int:
        return len(self._seen) + sum(len(kinds) for kinds in self._later.values())

    def _left(self) -> float:
        """Seconds of one process."""
        return sum(self._guess(kind) for kinds in self._later.values() for kind in kinds.values())

    def _guess(self, kind: Kind) -> float:
        """Mean seconds of the stages of a kind, or of those most like it that have run."""
        alike = [other for other in self._seconds if other[0] == kind[0]]
        if kind[0] == "decisions" and not alike:
            return 0.0  # short beside all others
        seconds = [
            second
            for other in ([kind] if kind in self._seconds else alike or self._seconds)
            for second in self._seconds[other]
        ]
        return float(np.mean(seconds))


def expected(cells: Sequence[Cell]) -> dict[str, Kind]:
    """The stages of cells, each once: an address and what kind of stage it is.

    Found without the data, which need not have been loaded yet.
    """
    found: dict[str, Kind] = {}
    for cell in cells:
        for stage, key in _keys(cell).items():
            found.setdefault(key, (stage, str(cell.row.body)))
    return found


def _dataset(cell: Cell) -> str:
    return f"{cell.source.name}{'_imb' if cell.source.imbalanced else ''}"


def _keys(cell: Cell) -> dict[str, str]:
    """Addresses that are equal where stages are, for stand-ins of data and matrix."""
    matrix = randomized_proportional([0, 1, 2], seed=cell.cost_seed)
    recipe = Recipe(cell.row, matrix, cell.settings, (10_000, 1), {"data": repr(cell.source)})
    training = recipe.describe_training()
    decisions = {
        "training": training,
        "prediction": cell.row.prediction,
        "matrix": cell.cost_seed if cell.row.weighs_costs else None,
    }
    descriptions = dict(
        zip(STAGES, (recipe.describe_pretraining(), training, decisions), strict=True)
    )
    return {name: StageCache.key(it) for name, it in descriptions.items() if it is not None}
