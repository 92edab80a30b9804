"""A row of a grid's results."""

import dataclasses

import keras
import numpy as np

from csdl_keras.experiments.outcome import Outcome
from csdl_keras.experiments.results import Result

#: Columns that are choices of `Settings`, see `Settings.columns`.
_CHOICES = (
    "variant",
    "hard_hinge",
    "learning_rate",
    "hidden_units",
    "batch_size",
    "pretraining_epochs",
    "pretraining_learning_rate",
    "corruption",
    "beta",
    "tied_weights",
    "penalty",
    "gamma_factor",
)


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
        wrong = 1.0 if outcome.test is None else float(np.mean(outcome.test != data.y_test))
        # Choices that the algorithm does not have are None.
        found = cell.settings.columns(cell.row)
        if "hidden_units" in found:
            found["hidden_units"] = "-".join(map(str, found["hidden_units"]))
        choices = {name: found.get(name) for name in _CHOICES}
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
            backend=keras.backend.backend() if cell.row.body_kind.is_network else "scikit-learn",
            test_size=len(data.y_test),
            cost_scale=cell.cost_scale,
            drop_rate=cell.source.drop_rate if cell.source.imbalanced else None,
            grayscale=cell.source.grayscale,
            **choices,
        )
