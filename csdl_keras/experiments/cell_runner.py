"""Runs cells: trains what is missing, decides, and keeps both in a cache of stages."""

import contextlib
import dataclasses
import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import keras
import numpy as np

from csdl_keras._utils.frames import rows_of
from csdl_keras.experiments.cell import Cell, Outcome
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.experiments.failures import Failures
from csdl_keras.fitting.descriptions import is_kept
from csdl_keras.fitting.divergence import DivergedError
from csdl_keras.fitting.stage_cache import StageCache, StageResult
from csdl_keras.prediction.decide import decide
from csdl_keras.training.trained import Trained
from csdl_keras.training.trainer import Trainer
from csdl_keras.training.workers import forget_models

if TYPE_CHECKING:
    from csdl_keras.baselines import CSOSR

#: A trained classifier, `None` where decisions were found without one.
Classifier: TypeAlias = "keras.Model | CSOSR | None"


class Watcher(Protocol):
    """Is told the progress of cells."""

    def expect(self, stages: int) -> None:
        """As many stages of pre-training and training are still to run."""

    def finished(self, outcome: Outcome, found: bool = False) -> None:
        """A cell has an outcome; `found` says that it was in the cache."""


@dataclasses.dataclass
class CellRunner:
    """Runs cells; stages that they share, with each other or with earlier runs, run once.

    Args:
        cache: finished stages.
        jobs: number of processes that train. Defaults to 1.
        callbacks: Keras callbacks for each `fit` in this process.
        failures: is told the cells that fail.
    """

    cache: StageCache
    jobs: int = 1
    callbacks: Sequence[keras.callbacks.Callback] = ()
    failures: Failures = dataclasses.field(default_factory=Failures)

    #: Keys of the stages of pre-training and training that ran.
    trained: set[str] = dataclasses.field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        # A grid comes back to the same data several times; trainers know their fingerprints.
        self.trainer = functools.lru_cache(maxsize=2)(self._trainer)

    def run(self, cells: Iterable[Cell]) -> Iterator[tuple[Outcome, Classifier]]:
        """Runs what is missing of cells; a cell that fails costs no other.

        Returns:
            An iterator of outcomes, those in the cache first, and the model that decided, which
            is `None` for those; the others follow as soon as they are trained.
        """
        waiting: dict[Trainer, dict[str, list[Cell]]] = {}
        for cell in cells:
            with self.failures.step(cell.name):
                trainer = self.trainer(cell.source, cell.seed)
                decisions = cell.stages(trainer)["decisions"]
                found = self.cache.find(decisions)
                if found is not None:
                    yield Outcome.of(cell, found), None
                    continue
                sharing = waiting.setdefault(trainer, {})
                sharing.setdefault(StageCache.key(decisions), []).append(cell)
        for trainer, groups in waiting.items():
            yield from self._train(trainer, list(groups.values()))

    def missing(self, cells: Iterable[Cell]) -> set[str]:
        """Returns the keys of the stages of pre-training and training that the cache lacks."""
        stages = self.stages(cells)
        return {key for key, stage in stages.items() if stage not in self.cache}

    def stages(self, cells: Iterable[Cell]) -> dict[str, dict[str, Any]]:
        """Describes the stages of pre-training and training of cells, each once, by their keys."""
        stages = {}
        for cell in cells:
            with contextlib.suppress(Exception):  # `run` tells it
                trainer = self.trainer(cell.source, cell.seed)
                for stage in trainer.stages(
                    cell.algorithm, cell.training_matrix, cell.settings
                ).values():
                    stages[StageCache.key(stage)] = stage
        return stages

    def _train(
        self, trainer: Trainer, groups: Sequence[Sequence[Cell]]
    ) -> Iterator[tuple[Outcome, Classifier]]:
        """Trains and decides; the cells of a group share their decisions."""
        missing = [self.missing(group) for group in groups]
        requests = [(it.algorithm, it.training_matrix, it.settings) for it, *_ in groups]
        diverged: list[tuple[int, DivergedError]] = []

        def on_error(index: int, error: Exception) -> None:
            if isinstance(error, DivergedError):
                diverged.append((index, error))
                return
            for cell in groups[index]:
                self.failures.add(cell.name, error)

        def outcomes(
            index: int, trained: Trained | DivergedError
        ) -> Iterator[tuple[Outcome, Classifier]]:
            self.trained |= missing[index]
            model = None if isinstance(trained, DivergedError) else trained.model
            for cell in groups[index]:
                with self.failures.step(cell.name):
                    yield Outcome.of(cell, self._decisions(trainer, cell, trained)), model
            forget_models()

        for index, trained in trainer.train_all(requests, on_error=on_error):
            yield from outcomes(index, trained)
        for index, error in diverged:
            yield from outcomes(index, error)

    def _decisions(
        self, trainer: Trainer, cell: Cell, trained: Trained | DivergedError
    ) -> StageResult:
        """Returns the decisions on validation and test images; none if the training diverged."""

        def compute() -> tuple[list[np.ndarray], dict]:
            if isinstance(trained, DivergedError):
                stages = trainer.stages(
                    cell.algorithm, cell.training_matrix, cell.settings
                ).values()
                found = [self.cache.find(stage) for stage in stages]
                seconds = sum(stage.seconds for stage in found if stage is not None)
                info = {"epochs": trained.epoch, "diverged": str(trained)}
                return [], {**info, "train_seconds": round(seconds, 2)}
            data = cell.source.load()
            return [decide(trained.model, rows_of(x)) for x in (data.x_val, data.x_test)], {
                "epochs": trained.epochs,
                "train_seconds": round(trained.seconds, 2),
                "diverged": None,
                "history": trained.history,
            }

        stages = cell.stages(trainer)
        cache = self.cache if is_kept(stages) else StageCache()
        return cache.get(stages["decisions"], compute)

    def _trainer(self, source: DataSource, seed: int) -> Trainer:
        data, costs = source.load(), source.example_costs("train")
        of_validation: list[Any] = [] if costs is None else [source.example_costs("val")]
        return Trainer(
            data.x_train,
            data.y_train,
            validation_data=(data.x_val, data.y_val, *of_validation),
            costs=costs,
            seed=seed,
            callbacks=self.callbacks,
            cache=self.cache,
            jobs=self.jobs,
        )
