"""A cell of the grid, an algorithm for one cost matrix of one data set, and its outcome."""

import dataclasses
import functools
import hashlib
import json
from typing import Any

import keras
import numpy as np

from csdl_keras import datasets
from csdl_keras._utils.checks import check_number, did_you_mean
from csdl_keras.costs import randomized_proportional
from csdl_keras.datasets import DataSet
from csdl_keras.paper.decisions import collapsed
from csdl_keras.training.algorithms import Algorithm
from csdl_keras.training.settings import Settings
from csdl_keras_cli.choices import DATASETS, FIRST_COST_SEED

__all__ = ["FIRST_COST_SEED", "Cell", "DataSource", "Outcome"]

#: The choices that keys of cells hold. Those that `Settings` got later are in a key only where
#: they differ from their defaults, so that results on file stay known.
_KEYED = """
batch_size beta clipnorm corruption effort epochs filters gamma_factor hard_hinge hidden_units
label_smoothing learning_rate min_steps momentum optimizer optimizer_name patience penalty
pretraining_epochs pretraining_learning_rate tied_weights variant
""".split()


@dataclasses.dataclass(frozen=True)
class DataSource:
    """A data set, or its imbalanced variant, and how much of it is trained on.

    `drop_rate` is the share of four random classes that imbalanced variants lose; `seed` is that of
    this removal and of the choice of `train_size` examples, `None` for all.
    """

    name: str
    imbalanced: bool = False
    train_size: int | None = None
    seed: int = 0
    drop_rate: float = 0.7
    grayscale: bool = False

    def __post_init__(self) -> None:
        check_number("drop_rate", self.drop_rate, 0, 1)

    @classmethod
    def parse(cls, label: str, **choices: Any) -> "DataSource":
        """Returns the source that `"mnist"`, or `"mnist_imb"` for the imbalanced variant, names."""
        return cls(label.removesuffix("_imb"), label.endswith("_imb"), **choices)

    @property
    def label(self) -> str:
        """Its name in files: that of the data set, with `_imb` for the imbalanced variant."""
        return self.name + "_imb" * self.imbalanced

    def load(self) -> DataSet:
        """Loads the data; the last data that were loaded stay in memory."""
        whole = _whole(dataclasses.replace(self, train_size=None))
        if self.train_size is None or self.train_size >= len(whole.y_train_val):
            return whole
        return _part(self)

    def matrix(self, seed: int, scale: float) -> np.ndarray:
        """Returns a random cost matrix, by the class frequencies of all examples."""
        labels = _whole(dataclasses.replace(self, train_size=None)).y_train_val
        return randomized_proportional(labels, scale=scale, seed=seed)


@functools.lru_cache(maxsize=1)
def _whole(source: DataSource) -> DataSet:
    try:
        data = datasets.load(source.name, grayscale=source.grayscale)
    except datasets.DataUnavailableError:
        raise  # The name is right, and its files are missing.
    except ValueError as error:
        raise type(error)(f"{error}{did_you_mean(source.name, DATASETS)}") from error
    if source.imbalanced:
        data = datasets.imbalance(data, seed=source.seed, fraction=source.drop_rate)
    return data


@functools.lru_cache(maxsize=1)
def _part(source: DataSource) -> DataSet:
    whole = _whole(dataclasses.replace(source, train_size=None))
    return datasets.subset(whole, source.train_size or 0, seed=source.seed)


@dataclasses.dataclass(frozen=True)
class Cell:
    """An algorithm for one cost matrix of one data set under one set of choices.

    `cost_seed` and `cost_scale` are those of `randomized_proportional`, `seed` is that of training.
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
        return f"{self.source.label} {self.algorithm.name} for matrix {self.cost_seed}"

    @property
    def place(self) -> dict[str, Any]:
        """The columns that name it in every file."""
        return {
            "dataset": self.source.name,
            "imbalanced": self.source.imbalanced,
            "algorithm": self.algorithm.name,
            "cost_seed": self.cost_seed,
        }

    @property
    def matrix(self) -> np.ndarray:
        """The cost matrix."""
        return self.source.matrix(self.cost_seed, self.cost_scale)

    @functools.cached_property
    def key(self) -> str:
        """A digest of all that was asked for, by which files know a finished cell.

        Results on file count wherever they were made, with any versions of packages. The scheme
        is that of all folders since version 0.2 and stays.
        """
        policy = keras.config.dtype_policy().name
        choices, plain = (it.columns(self.algorithm) for it in (self.settings, Settings()))
        asked = {
            **dataclasses.asdict(self.source),
            "costs_of_all": True,
            **({} if policy == "float32" else {"dtype_policy": policy}),
            "algorithm": [self.algorithm.name],
            "costs": [self.cost_seed, self.cost_scale],
            "training_seed": self.seed,
            "choices": {
                name: value
                for name, value in choices.items()
                if name in _KEYED or value != plain[name]
            },
            "version": 7,
        }
        text = json.dumps(asked, sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A cell with its decisions on validation and test examples, `None` if the training diverged.

    `history` are losses and average costs by epoch, see `Trained`.
    """

    cell: Cell
    validation: np.ndarray | None
    test: np.ndarray | None
    epochs: int
    train_seconds: float
    diverged: str | None = None
    history: dict[str, list[float]] = dataclasses.field(default_factory=dict)

    @functools.cached_property
    def test_costs(self) -> np.ndarray:
        """The cost of each decision on a test example; infinite if the training diverged."""
        return self._costs(self.test, self.cell.source.load().y_test)

    @functools.cached_property
    def test_error(self) -> float:
        """The share of test examples decided wrongly; 1 if the training diverged."""
        labels = self.cell.source.load().y_test
        return 1.0 if self.test is None else float(np.mean(self.test != labels))

    @functools.cached_property
    def validation_cost(self) -> float:
        """The average cost of the decisions on validation examples."""
        return float(self._costs(self.validation, self.cell.source.load().y_val).mean())

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
        return self._collapsed(self.validation, self.cell.source.load().y_val)

    @property
    def collapsed_on_test(self) -> bool:
        """The same on test examples, by which nothing is chosen."""
        return self._collapsed(self.test, self.cell.source.load().y_test)

    def _collapsed(self, decisions: np.ndarray | None, labels: np.ndarray) -> bool:
        in_errors = self.criterion_name == "error"
        return decisions is not None and collapsed(decisions, labels, self.cell.matrix, in_errors)

    def _costs(self, decisions: np.ndarray | None, labels: np.ndarray) -> np.ndarray:
        if decisions is None:
            return np.full(len(labels), np.inf)
        return self.cell.matrix[labels, decisions]
