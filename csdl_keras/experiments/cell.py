"""One cell of a grid, an algorithm for one cost matrix of one data set, and its outcome."""

import dataclasses
import functools
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.array_file import fingerprint
from csdl_keras._utils.frames import rows_of
from csdl_keras.costs import zero_one
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.fitting.stage_cache import StageCache, StageResult
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.recipe import STAGE_VERSION
from csdl_keras.training.settings import Settings
from csdl_keras.training.trainer import Trainer

#: Seed of the first cost matrix of every comparison; the others follow.
FIRST_COST_SEED = 1000
#: Stands for the seed where costs are not drawn but the user's.
OWN_COSTS = 0


@dataclasses.dataclass(frozen=True)
class Cell:
    """An algorithm for one cost matrix of one data set under one set of choices.

    Args:
        source: the data.
        algorithm: the algorithm.
        cost_seed: seed of the cost matrix; `OWN_COSTS` if the source has costs of its own.
        settings: settings of the training.
        cost_scale: `scale` of `randomized_proportional`. Defaults to 10.
        seed: seed of the training. Defaults to 0.
    """

    source: DataSource
    algorithm: Algorithm
    cost_seed: int
    settings: Settings
    cost_scale: float = 10.0
    seed: int = 0

    @property
    def name(self) -> str:
        """Its name in messages: the data, the algorithm and the matrix."""
        matrix = "" if self.cost_seed == OWN_COSTS else f" for matrix {self.cost_seed}"
        return f"{self.source.label} {self.algorithm.name}{matrix}"

    @property
    def matrix(self) -> np.ndarray:
        """The cost matrix; the mean costs of classes if each example has costs of its own."""
        return self.source.matrix(self.cost_seed, self.cost_scale)

    @property
    def training_matrix(self) -> np.ndarray | None:
        """The cost matrix as training takes it, `None` if each example has costs of its own."""
        return self.matrix if self.source.example_costs("train") is None else None

    @property
    def key(self) -> str:
        """A digest of all that was asked for, by which files know a finished cell.

        Unlike the keys of its stages it is the same with other versions of packages, so that
        results on file count wherever they were made, if they were trained in the same way.
        """
        source = dataclasses.asdict(self.source)
        if source["costs"] is None:
            del source["costs"]
        policy = keras.config.dtype_policy().name
        asked = {
            **source,
            **({} if policy == "float32" else {"dtype_policy": policy}),
            "algorithm": [self.algorithm.name],
            "costs": [self.cost_seed, self.cost_scale],
            "training_seed": self.seed,
            "choices": self.settings.columns(self.algorithm),
            "version": STAGE_VERSION,
        }
        return StageCache.key(asked)[:16]

    @property
    def effort(self) -> str:
        """The effort of its training, `"quick"` unless the algorithm or its network says more."""
        return getattr(self.settings.body_of(self.algorithm), "effort", "quick")

    def stages(self, trainer: Trainer) -> dict[str, dict[str, Any]]:
        """Describes the stages: `"pretraining"`, unless there is none, `"training"`, `"decisions"`.

        Args:
            trainer: the trainer of this data and seed.
        """
        algorithm, matrix = self.algorithm, self.training_matrix
        stages = trainer.stages(algorithm, matrix, self.settings)
        costs_key = trainer.data.costs_fingerprint if matrix is None else fingerprint(matrix)
        decisions: dict[str, Any] = {
            "stage": "decisions",
            "training": StageCache.key(stages["training"]),
            "prediction": algorithm.prediction,
            "costs": costs_key if algorithm.weighs_costs else None,
            "images": _images(self.source),
        }
        # Named only where they differ from the algorithms of the paper.
        if algorithm.calibrated:
            decisions["calibrated"] = True
        if (algorithm.members or 1) > 1:
            decisions["members"] = algorithm.members
        if self.effort != "quick":
            decisions["effort"] = self.effort
        return {**stages, "decisions": decisions}


@functools.lru_cache(maxsize=2)
def _images(source: DataSource) -> str:
    data = source.load()
    return fingerprint(rows_of(data.x_val), rows_of(data.x_test))


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A cell with its decisions.

    Args:
        cell: the cell.
        validation: decisions on validation examples; None if the training diverged.
        test: decisions on test examples; None if the training diverged.
        epochs: epochs of the training.
        train_seconds: seconds of pre-training and training, shared stages in full.
        diverged: how the training diverged; None (default) if it did not.
        history: losses and average costs by epoch, see `Trained`.
    """

    cell: Cell
    validation: np.ndarray | None
    test: np.ndarray | None
    epochs: int
    train_seconds: float
    diverged: str | None = None
    history: dict[str, list[float]] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, cell: Cell, stage: StageResult) -> "Outcome":
        """Returns the outcome that the stage `"decisions"` of a cell holds."""
        validation, test = stage.arrays or (None, None)
        return cls(cell, validation, test, **stage.info)

    @functools.cached_property
    def test_costs(self) -> np.ndarray:
        """The cost of each decision on a test example; infinite if the training diverged."""
        return self._costs(self.test, self.cell.source.load().y_test, "test")

    @functools.cached_property
    def test_error(self) -> float:
        """The share of test examples decided wrongly; 1 if the training diverged."""
        labels = self.cell.source.load().y_test
        return 1.0 if self.test is None else float(np.mean(self.test != labels))

    @functools.cached_property
    def validation_cost(self) -> float:
        """The average cost of the decisions on validation examples."""
        return float(self._costs(self.validation, self.cell.source.load().y_val, "val").mean())

    @functools.cached_property
    def relative_cost(self) -> float:
        """The validation cost relative to the best constant decision's, if that costs anything.

        Unlike costs themselves it tells better from worse networks of different matrices.
        """
        own = self.cell.source.example_costs("val")
        costs = self.cell.matrix[self.cell.source.load().y_val] if own is None else own
        return self.validation_cost / (float(costs.mean(axis=0).min()) or 1.0)

    @property
    def criterion_name(self) -> str:
        """The figure that values are chosen by: `"error"` of cost-blind algorithms, or `"cost"`."""
        return "error" if self.cell.algorithm.series == "blind" else "cost"

    @property
    def criterion(self) -> float:
        """That figure on the validation examples; infinite if the training diverged."""
        if self.criterion_name == "cost" or self.validation is None:
            return self.validation_cost
        return float(np.mean(self.validation != self.cell.source.load().y_val))

    @functools.cached_property
    def collapsed(self) -> bool:
        """True if it decides no better on validation than one decision for all examples.

        The best constant decision is measured by the same criterion. A training that
        diverged is no collapse.
        """
        if self.validation is None:
            return False
        labels, matrix = self.cell.source.load().y_val, self.cell.matrix
        if self.criterion_name == "error":
            matrix = zero_one(len(matrix))
        constant = float(matrix[labels].mean(axis=0).min())
        return len(np.unique(self.validation)) == 1 or self.criterion >= constant

    def _costs(self, decisions: np.ndarray | None, labels: np.ndarray, part: str) -> np.ndarray:
        if decisions is None:
            return np.full(len(labels), np.inf)
        own = self.cell.source.example_costs(part)
        if own is not None:
            return own[np.arange(len(own)), decisions]
        return self.cell.matrix[labels, decisions]
