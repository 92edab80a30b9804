"""Results of a comparison: one row for each algorithm and cost matrix, in a CSV file."""

import csv
import dataclasses
import io
import pathlib
from collections.abc import Sequence
from typing import Any

from csdl_keras._utils.files import replace_file


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
    """Adds results to a CSV file, each one on disk before the next begins.

    It is replaced as a whole, so that no row is ever there in part.

    Args:
        path: the file; it must not exist yet.

    Raises:
        FileExistsError: if it does.
    """

    def __init__(self, path: pathlib.Path):
        self.path = path
        self._text = io.StringIO(newline="")
        path.touch(exist_ok=False)
        self._write([field.name for field in dataclasses.fields(Result)])

    def append(self, result: Result) -> None:
        """Writes one row."""
        self._write(dataclasses.astuple(result))

    def _write(self, row: Sequence[Any]) -> None:
        csv.writer(self._text).writerow(row)
        replace_file(self.path, self._text.getvalue().encode())
