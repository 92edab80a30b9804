"""Results of a comparison: one row for each algorithm and cost matrix, in a CSV file."""

import csv
import dataclasses
import pathlib


@dataclasses.dataclass(frozen=True)
class Result:
    """What one algorithm did with one cost matrix.

    Args:
        dataset: name of the data set.
        imbalanced: whether it is the imbalanced variant.
        algorithm: name of the algorithm.
        cost_seed: seed of the cost matrix.
        average_cost: cost of its decisions, a test example.
        error_rate: share of test examples decided wrongly.
        validation_cost: cost of its decisions, a validation example.
        train_seconds: of pre-training and training, shared stages in full.
        epochs: epochs of training.
        train_size: examples for training and validation.
        seed: seed of training.
        backend: Keras backend.
    """

    dataset: str
    imbalanced: bool
    algorithm: str
    cost_seed: int
    average_cost: float
    error_rate: float
    validation_cost: float
    train_seconds: float
    epochs: int
    train_size: int
    seed: int
    backend: str


class ResultFile:
    """Appends results to a CSV file, each one on disk before the next begins.

    Args:
        path: the file; it must not exist yet.

    Raises:
        FileExistsError: if it does.
    """

    def __init__(self, path: pathlib.Path):
        self.path = path
        with path.open("x", newline="") as file:
            csv.writer(file).writerow(field.name for field in dataclasses.fields(Result))

    def append(self, result: Result) -> None:
        """Writes one row."""
        with self.path.open("a", newline="") as file:
            csv.writer(file).writerow(dataclasses.astuple(result))
