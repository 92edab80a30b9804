"""One cell of a grid: an algorithm for one cost matrix of one data set."""

import contextlib
import dataclasses
import functools
import pathlib
from typing import Any

import numpy as np

from csdl_keras._utils.array_file import fingerprint
from csdl_keras.costs import randomized_proportional
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.fitting.divergence import DivergedError
from csdl_keras.fitting.stage_cache import StageCache, StageResult
from csdl_keras.prediction.decide import decide
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.algorithms import get_algorithm
from csdl_keras.training.settings import Settings
from csdl_keras.training.trainer import Trainer

#: The stages of a cell, in their order.
STAGES = ("pretraining", "training", "decisions")


@dataclasses.dataclass(frozen=True)
class Cell:
    """An algorithm for one cost matrix of one data set under one set of choices.

    It holds names and numbers only, so that it can be sent to any process that
    sees the data and the folder of the cache.

    Args:
        source: the data.
        algorithm: name of the algorithm.
        cost_seed: seed of the cost matrix.
        settings: how it is trained.
        cost_scale: `scale` of `randomized_proportional`. Defaults to 10.
        seed: seed of training.
    """

    source: DataSource
    algorithm: str
    cost_seed: int
    settings: Settings
    cost_scale: float = 10.0
    seed: int = 0

    @property
    def row(self) -> Algorithm:
        """The algorithm as a row of Table 1."""
        return get_algorithm(self.algorithm)

    @property
    def matrix(self) -> np.ndarray:
        """The cost matrix."""
        labels = self.source.cost_labels()
        return randomized_proportional(labels, scale=self.cost_scale, seed=self.cost_seed)

    def stages(self, folder: pathlib.Path) -> dict[str, dict[str, Any]]:
        """Descriptions of its stages, as the cache in `folder` knows them."""
        stages = _trainer(self.source, self.seed, folder).stages(
            self.row, self.matrix, self.settings
        )
        decisions: dict[str, Any] = {
            "stage": "decisions",
            "training": StageCache.key(stages["training"]),
            "prediction": self.row.prediction,
            "costs": fingerprint(self.matrix) if self.row.weighs_costs else None,
            "images": _images(self.source),
        }
        # Named only where they are not what they are in the rows of the paper.
        if self.row.calibrated:
            decisions["calibrated"] = True
        if self.row.members > 1:
            decisions["members"] = self.row.members
        return {**stages, "decisions": decisions}

    def run(self, stage: str, folder: pathlib.Path) -> StageResult | None:
        """Runs one stage, after those that it needs, unless the cache has it."""
        trainer = _trainer(self.source, self.seed, folder)
        if stage != "decisions":
            with contextlib.suppress(DivergedError):  # which the stage of decisions tells
                return trainer.run_stage(stage, self.row, self.matrix, self.settings)
            return None
        return trainer.cache.get(self.stages(folder)["decisions"], lambda: self._decide(trainer))

    def _decide(self, trainer: Trainer) -> tuple[list[np.ndarray], dict[str, Any]]:
        """Decisions on validation and test images; none where training has diverged."""
        data = self.source.load()
        try:
            trained = trainer.train(self.row, self.matrix, self.settings)
        except DivergedError as error:
            stages = trainer.stages(self.row, self.matrix, self.settings).values()
            found = [trainer.cache.find(stage) for stage in stages]
            seconds = round(sum(stage.seconds for stage in found if stage is not None), 2)
            return [], {"epochs": error.epoch, "train_seconds": seconds, "diverged": True}
        info = {"epochs": trained.epochs, "train_seconds": round(trained.seconds, 2)}
        smallest = np.uint8 if data.num_classes <= 256 else np.uint16
        decided = [decide(trained.model, x).astype(smallest) for x in (data.x_val, data.x_test)]
        return decided, {**info, "diverged": False}


@functools.lru_cache(maxsize=2)
def _trainer(source: DataSource, seed: int, folder: pathlib.Path) -> Trainer:
    data = source.load()
    return Trainer(
        data.x_train,
        data.y_train,
        validation_data=(data.x_val, data.y_val),
        seed=seed,
        cache=StageCache(folder),
    )


@functools.lru_cache(maxsize=2)
def _images(source: DataSource) -> str:
    data = source.load()
    return fingerprint(data.x_val, data.x_test)
