"""The rows of `results.csv`: what came out."""

import dataclasses
from typing import Any

import keras

from csdl_keras.experiments.cell import Cell, Outcome
from csdl_keras.experiments.decision_files import is_collapsed

#: Columns that are choices of `Settings`, see `Settings.columns`.
_CHOICES = (
    "variant",
    "hard_hinge",
    "optimizer_name",
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
class CellRow:
    """The columns that name a cell, in every file.

    Args:
        dataset: name of the data set.
        imbalanced: whether it is the imbalanced variant.
        algorithm: name of the algorithm.
        cost_seed: seed of the cost matrix, 0 if costs are the user's.
    """

    dataset: str
    imbalanced: bool
    algorithm: str
    cost_seed: int


@dataclasses.dataclass(frozen=True)
class Result(CellRow):
    """The result of one algorithm for one cost matrix.

    Args:
        average_cost: average cost of its decisions on test examples.
        error_rate: share of test examples decided wrongly.
        validation_cost: average cost of its decisions on validation examples.
        train_seconds: seconds of pre-training and training, shared stages in full.
        epochs: epochs of the training.
        train_size: number of examples for training and validation.
        seed: seed of the training.
        backend: Keras backend, or `"scikit-learn"`.
    """

    average_cost: float
    error_rate: float
    validation_cost: float
    train_seconds: float
    epochs: int
    train_size: int
    seed: int
    backend: str


@dataclasses.dataclass(frozen=True)
class GridResult(Result):
    """A result with the choices behind it; choices that an algorithm does not have are None.

    Args:
        collapsed: whether it decides no better than one decision for all examples, on validation,
            see `Outcome.collapsed`, or on test examples. Nothing is chosen by the latter.
        tried_again: number of better choices that collapsed on validation with this matrix and
            seed; 0 if all that were tried did, since the result is then that of the best one.
        cell: key of its cell.
        test_size: number of test examples.
        cost_scale: `scale` of `randomized_proportional`.
        drop_rate: share of four classes that was removed, in imbalanced variants.
        grayscale: whether images lost their colours.
        variant: variant of Caffe's network.
        hard_hinge: whether the hinge was used instead of the SOSR loss.
        optimizer_name: optimizer of the network.
        learning_rate: learning rate of the training.
        hidden_units: units of each hidden layer, such as `"500-500-500"`.
        batch_size: number of examples in a batch.
        pretraining_epochs: epochs of pre-training for each layer.
        pretraining_learning_rate: learning rate of pre-training.
        corruption: probability of zeroing an input in pre-training.
        beta: balance between reconstruction and costs in pre-training.
        tied_weights: whether decoders used the transposed weights in pre-training.
        penalty: penalty for violations in `CSOSR`.
        gamma_factor: factor of the kernel's width in `CSOSR`.
    """

    collapsed: bool
    tried_again: int
    cell: str
    test_size: int
    cost_scale: float
    drop_rate: float | None
    grayscale: bool
    variant: str | None
    hard_hinge: bool | None
    optimizer_name: str | None
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
    def of(cls, outcome: Outcome, tried_again: int = 0) -> "GridResult":
        """Returns the result of an outcome, with the choices that its algorithm has."""
        cell = outcome.cell
        choices = cell.settings.columns(cell.algorithm)
        known: dict[str, Any] = {name: choices.get(name) for name in _CHOICES}
        if "hidden_units" in choices:
            known["hidden_units"] = "-".join(map(str, choices["hidden_units"]))
        return cls(
            **result_columns(outcome),
            collapsed=outcome.collapsed or _collapsed_on_test(outcome),
            tried_again=tried_again,
            cell=cell.key,
            test_size=len(cell.source.load().y_test),
            cost_scale=cell.cost_scale,
            drop_rate=cell.source.drop_rate if cell.source.imbalanced else None,
            grayscale=cell.source.grayscale,
            **known,
        )


def _collapsed_on_test(outcome: Outcome) -> bool:
    if outcome.test is None:
        return False
    labels = outcome.cell.source.load().y_test
    in_errors = outcome.criterion_name == "error"
    return is_collapsed(outcome.test, labels, outcome.cell.matrix, in_errors)


def cell_columns(cell: Cell) -> dict[str, Any]:
    """Returns the fields of a `CellRow`."""
    return {
        "dataset": cell.source.name,
        "imbalanced": cell.source.imbalanced,
        "algorithm": cell.algorithm.name,
        "cost_seed": cell.cost_seed,
    }


def result_columns(outcome: Outcome) -> dict[str, Any]:
    """Returns the fields of a `Result`."""
    cell = outcome.cell
    keras_trained = cell.algorithm.body_kind.is_network
    return {
        **cell_columns(cell),
        "average_cost": float(outcome.test_costs.mean()),
        "error_rate": outcome.test_error,
        "validation_cost": outcome.validation_cost,
        "train_seconds": outcome.train_seconds,
        "epochs": outcome.epochs,
        "train_size": len(cell.source.load().y_train_val),
        "seed": cell.seed,
        "backend": keras.backend.backend() if keras_trained else "scikit-learn",
    }
