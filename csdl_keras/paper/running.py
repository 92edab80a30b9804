"""Runs cells: trains what is missing, decides, and keeps both in a cache. All training is here."""

import contextlib
import dataclasses
import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from csdl_keras._utils.array_file import fingerprint
from csdl_keras._utils.optional import optional_module
from csdl_keras.fitting.cache import StageCache
from csdl_keras.fitting.fit import DivergedError
from csdl_keras.paper.cells import Cell, DataSource, Outcome
from csdl_keras.paper.failures import Failures
from csdl_keras.prediction.decide import decide
from csdl_keras.training.parallel import forget_models
from csdl_keras.training.train import Trained, Trainer


@contextlib.contextmanager
def processes(jobs: int = 1, scheduler: str | None = None) -> Iterator[None]:
    """Makes trainings inside the `with` run in several processes, or on a Dask cluster.

    The workers behind the `scheduler`'s address must see the folder of the cache under its path.
    """
    import joblib  # slow to import

    if scheduler is None:
        with joblib.parallel_config(n_jobs=jobs):
            yield
        return
    distributed = optional_module("distributed", "dask")
    try:
        client = distributed.Client(scheduler, timeout="20s")
    except (OSError, ValueError) as error:
        raise ValueError(
            f"Expected a Dask scheduler at {scheduler!r}, such as tcp://10.0.0.1:8786; {error}"
        ) from error
    with client, joblib.parallel_config("dask", n_jobs=-1, wait_for_workers_timeout=60):
        yield


@dataclasses.dataclass
class Runner:
    """Runs cells; stages that they share, with each other or with earlier runs, run once.

    Args:
        cache: finished stages, and decisions.
        failures: is told the cells that fail.
    """

    cache: StageCache
    failures: Failures = dataclasses.field(default_factory=Failures)

    #: The cells that were not in the cache.
    ran: list[Cell] = dataclasses.field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        # A grid comes back to the same data several times; trainers know their fingerprints.
        self.trainer = functools.lru_cache(maxsize=2)(self._trainer)

    def run(self, cells: Iterable[Cell]) -> Iterator[Outcome]:
        """Runs what is missing of cells; a cell that fails costs no other.

        Returns:
            An iterator of outcomes, those in the cache first; the others follow as soon as they
            are trained.
        """
        waiting: dict[Trainer, dict[str, list[Cell]]] = {}
        stages = {}
        for cell in cells:
            with self.failures.step(cell.name):
                trainer = self.trainer(cell.source, cell.seed)
                stage = _decisions(trainer, cell)
                found = self.cache.find(stage)
                if found is not None:
                    validation, test = found.arrays or (None, None)
                    yield Outcome(cell, validation, test, **found.info)
                    continue
                key = StageCache.key(stage)
                stages[key] = stage
                waiting.setdefault(trainer, {}).setdefault(key, []).append(cell)
        for trainer, groups in waiting.items():
            yield from self._train(trainer, [(stages[key], own) for key, own in groups.items()])

    def _train(
        self, trainer: Trainer, groups: Sequence[tuple[dict[str, Any], list[Cell]]]
    ) -> Iterator[Outcome]:
        """Trains and decides; the cells of a group share their decisions."""
        requests = [(cell.algorithm, cell.matrix, cell.settings) for _, (cell, *_) in groups]
        diverged: list[tuple[int, DivergedError]] = []

        def on_error(index: int, error: Exception) -> None:
            if isinstance(error, DivergedError):
                diverged.append((index, error))
                return
            for cell in groups[index][1]:
                self.failures.add(cell.name, error)

        for index, trained in trainer.train_all(requests, on_error=on_error):
            yield from self._decide(*groups[index], trained)
        for index, error in diverged:
            yield from self._decide(*groups[index], error)

    def _decide(
        self, stage: dict[str, Any], cells: Sequence[Cell], trained: Trained | DivergedError
    ) -> Iterator[Outcome]:
        """Takes the decisions on validation and test images; none if the training diverged."""

        def compute() -> tuple[list, dict[str, Any]]:
            if isinstance(trained, DivergedError):
                told = {"epochs": trained.epoch, "diverged": str(trained)}
                return [], {**told, "train_seconds": 0.0}
            data = cells[0].source.load()
            return [decide(trained.model, x) for x in (data.x_val, data.x_test)], {
                "epochs": trained.epochs,
                "train_seconds": round(trained.seconds, 2),
                "history": trained.history,
            }

        for cell in cells:
            with self.failures.step(cell.name):
                found = self.cache.get(stage, compute)
                self.ran.append(cell)
                validation, test = found.arrays or (None, None)
                yield Outcome(cell, validation, test, **found.info)
        forget_models()

    def _trainer(self, source: DataSource, seed: int) -> Trainer:
        data = source.load()
        return Trainer(
            data.x_train,
            data.y_train,
            validation_data=(data.x_val, data.y_val),
            seed=seed,
            cache=self.cache,
        )


def _decisions(trainer: Trainer, cell: Cell) -> dict[str, Any]:
    """Describes all that decisions depend on, as the cache knows them."""
    algorithm = cell.algorithm
    return {
        "stage": "decisions",
        "training": trainer.key(algorithm, cell.matrix, cell.settings),
        "prediction": algorithm.prediction,
        "costs": fingerprint(cell.matrix) if algorithm.weighs_costs else None,
        "images": _images(cell.source),
        "calibrated": algorithm.calibrated,
        "members": algorithm.members,
    }


@functools.lru_cache(maxsize=2)
def _images(source: DataSource) -> str:
    data = source.load()
    return fingerprint(data.x_val, data.x_test)
