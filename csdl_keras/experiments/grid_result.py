"""A row of a grid's results."""

import dataclasses

import keras
import numpy as np

from csdl_keras.experiments.outcome import Outcome
from csdl_keras.experiments.results import Result


@dataclasses.dataclass(frozen=True)
class GridResult(Result):
    """What one algorithm did with one cost matrix, and with which choices.

    Choices that an algorithm does not have are None.

    Args:
        test_size: number of test examples.
        learning_rate: of training.
        hidden_units: of each hidden layer, such as `"500-500-500"`.
        batch_size: examples a batch.
        pretraining_epochs: epochs for each layer.
        pretraining_learning_rate: of pre-training.
        corruption: probability of zeroing an input in pre-training.
        beta: balance between reconstruction and costs in pre-training.
        penalty: of `CSOSR`.
        gamma_factor: of its kernel.
    """

    test_size: int
    learning_rate: float | None
    hidden_units: str | None
    batch_size: int | None
    pretraining_epochs: int | None
    pretraining_learning_rate: float | None
    corruption: float | None
    beta: float | None
    penalty: float | None
    gamma_factor: float | None

    @classmethod
    def of(cls, outcome: Outcome) -> "GridResult":
        """The row of an outcome."""
        cell, data = outcome.cell, outcome.cell.source.load()
        settings, body = cell.settings, cell.row.body
        mlp, pretrained = body == "mlp", cell.row.pretraining != "none"
        wrong = 1.0 if outcome.test is None else float(np.mean(outcome.test != data.y_test))
        rates = {"mlp": settings.learning_rate, "cnn": settings.cnn_learning_rate, "svm": None}
        batches = {"mlp": settings.batch_size, "cnn": settings.cnn_batch_size, "svm": None}
        return cls(
            dataset=cell.source.name,
            imbalanced=cell.source.imbalanced,
            algorithm=cell.algorithm,
            cost_seed=cell.cost_seed,
            average_cost=float(outcome.test_costs.mean()),
            error_rate=wrong,
            validation_cost=outcome.validation_cost,
            train_seconds=outcome.train_seconds,
            epochs=outcome.epochs,
            train_size=len(data.y_train_val),
            seed=cell.seed,
            backend=keras.backend.backend() if body != "svm" else "scikit-learn",
            test_size=len(data.y_test),
            learning_rate=rates[body],
            hidden_units="-".join(map(str, settings.hidden_units)) if mlp else None,
            batch_size=batches[body],
            pretraining_epochs=settings.pretraining_epochs if pretrained else None,
            pretraining_learning_rate=settings.pretraining_learning_rate if pretrained else None,
            corruption=settings.corruption if pretrained else None,
            beta=settings.beta if cell.row.pretraining in ("seae", "cae") else None,
            penalty=settings.penalty if body == "svm" else None,
            gamma_factor=settings.gamma_factor if body == "svm" else None,
        )
