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
        cost_scale: `scale` of `randomized_proportional`.
        drop_rate: share that thinned-out classes lost, in imbalanced variants.
        grayscale: whether images lost their colours.
        variant: of Caffe's network.
        hard_hinge: whether the hinge stood in for SOSR.
        learning_rate: of training.
        hidden_units: of each hidden layer, such as `"500-500-500"`.
        batch_size: examples a batch.
        pretraining_epochs: epochs for each layer.
        pretraining_learning_rate: of pre-training.
        corruption: probability of zeroing an input in pre-training.
        beta: balance between reconstruction and costs in pre-training.
        tied_weights: whether decoders used the transposed weights in pre-training.
        penalty: of `CSOSR`.
        gamma_factor: of its kernel.
    """

    test_size: int
    cost_scale: float
    drop_rate: float | None
    grayscale: bool
    variant: str | None
    hard_hinge: bool | None
    learning_rate: float | None
    hidden_units: str | None
    batch_size: int | None
    pretraining_epochs: int | None
    pretraining_learning_rate: float | None
    corruption: float | None
    beta: float | None
    tied_weights: bool | None
    penalty: float | None
    gamma_factor: float | None

    @classmethod
    def of(cls, outcome: Outcome) -> "GridResult":
        """The row of an outcome."""
        cell, data = outcome.cell, outcome.cell.source.load()
        settings, body = cell.settings, cell.row.body
        mlp, pretrained = body == "mlp", cell.row.pretraining != "none"
        wrong = 1.0 if outcome.test is None else float(np.mean(outcome.test != data.y_test))
        rates = {
            "mlp": settings.learning_rate,
            "cnn": settings.cnn_learning_rate,
            "auto": settings.auto_learning_rate,
            "svm": None,
        }
        batches = {
            "mlp": settings.batch_size,
            "cnn": settings.cnn_batch_size,
            "auto": settings.auto_batch_size,
            "svm": None,
        }
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
            cost_scale=cell.cost_scale,
            drop_rate=cell.source.drop_rate if cell.source.imbalanced else None,
            grayscale=cell.source.grayscale,
            variant=settings.cnn_variant if body == "cnn" else None,
            hard_hinge=settings.hard_hinge if cell.row.training == "sosr" else None,
            learning_rate=rates[body],
            hidden_units="-".join(map(str, settings.hidden_units)) if mlp else None,
            batch_size=batches[body],
            pretraining_epochs=settings.pretraining_epochs if pretrained else None,
            pretraining_learning_rate=settings.pretraining_learning_rate if pretrained else None,
            corruption=settings.corruption if pretrained else None,
            beta=settings.beta if cell.row.pretraining in ("seae", "cae") else None,
            tied_weights=settings.tied_weights if pretrained else None,
            penalty=settings.penalty if body == "svm" else None,
            gamma_factor=settings.gamma_factor if body == "svm" else None,
        )
