"""What the decisions of a cell come to."""

import dataclasses
import functools

import numpy as np

from csdl_keras.experiments.cell import Cell
from csdl_keras.fitting.stage_cache import StageResult


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A cell with its decisions.

    Args:
        cell: the cell.
        validation: decisions on validation examples; None if training diverged.
        test: decisions on test examples; None if training diverged.
        epochs: epochs of training.
        train_seconds: of pre-training and training, shared stages in full.
    """

    cell: Cell
    validation: np.ndarray | None
    test: np.ndarray | None
    epochs: int
    train_seconds: float

    @classmethod
    def of(cls, cell: Cell, result: StageResult) -> "Outcome":
        """The outcome that the stage `"decisions"` of a cell has left."""
        validation, test = result.arrays or (None, None)
        return cls(cell, validation, test, int(result.info["epochs"]), result.info["train_seconds"])

    @functools.cached_property
    def test_costs(self) -> np.ndarray:
        """The cost of each decision on a test example; infinite if training diverged."""
        return self._costs(self.test, self.cell.source.load().y_test)

    @functools.cached_property
    def validation_cost(self) -> float:
        """The average cost of the decisions on validation examples."""
        return float(self._costs(self.validation, self.cell.source.load().y_val).mean())

    @property
    def criterion(self) -> float:
        """What values are chosen by: validation cost, or validation error in cost-blind rows."""
        if self.cell.row.series != "blind" or self.validation is None:
            return self.validation_cost
        return float(np.mean(self.validation != self.cell.source.load().y_val))

    def _costs(self, decisions: np.ndarray | None, labels: np.ndarray) -> np.ndarray:
        if decisions is None:
            return np.full(len(labels), np.inf)
        return self.cell.matrix[labels, decisions]
