"""The data of a grid, by name."""

import dataclasses
import functools
import pathlib
from typing import Any

import numpy as np

from csdl_keras import datasets
from csdl_keras._utils.checks import check_number
from csdl_keras.costs import randomized_proportional
from csdl_keras.datasets import DataSet
from csdl_keras.training.algorithm import Algorithm
from csdl_keras_cli.choices import DATASETS
from csdl_keras_cli.suggestions import did_you_mean


@dataclasses.dataclass(frozen=True)
class DataSource:
    """A data set, or its imbalanced variant, and how much of it is trained on.

    Args:
        name: name of the data set, see `datasets.load`.
        imbalanced: whether 70% (or `drop_rate`) of four random classes are removed.
        train_size: examples of training and validation; `None` (default) is all.
        seed: seed of that removal and of the choice of examples.
        drop_rate: share of these classes that is removed. Defaults to
            0.7, as in the paper; the authors' code has 0.9 for SVHN.
        grayscale: whether images lose their colours. Defaults to False.
        costs_of_all: whether cost matrices follow from the class frequencies of all
            examples, so that they are the same for every `train_size`. Defaults to
            True; False takes those of the examples that are used, and refuses a
            `train_size` above their number.
        costs: rows of a cost matrix of the user's; `None` (default) draws random ones.
    """

    name: str
    imbalanced: bool = False
    train_size: int | None = None
    seed: int = 0
    drop_rate: float = 0.7
    grayscale: bool = False
    costs_of_all: bool = True
    costs: tuple[tuple[float, ...], ...] | None = None

    def __post_init__(self) -> None:
        check_number("drop_rate", self.drop_rate, 0, 1)

    @classmethod
    def parse(cls, text: str, **choices: object) -> "DataSource":
        """Returns the source that `"mnist"`, or `"mnist_imb"` for the imbalanced variant, names."""
        name = text.removesuffix("_imb")
        return cls(name, imbalanced=name != text, **choices)  # type: ignore[arg-type]

    @property
    def label(self) -> str:
        """Its name in files: that of the data set, with `_imb` for the imbalanced variant."""
        return self.name.replace("/", "_") + ("_imb" if self.imbalanced else "")

    def load(self) -> DataSet:
        """Loads the data; the last data that were loaded stay in memory."""
        whole = _whole(self._without_size)
        if self.train_size is None:
            return whole
        if self.costs_of_all and self.train_size >= len(whole.y_train_val):
            return whole
        return _part(self)

    def cost_labels(self) -> np.ndarray:
        """Returns the labels of training and validation whose frequencies shape cost matrices."""
        data = _whole(self._without_size) if self.costs_of_all else self.load()
        return data.y_train_val

    def matrix(self, seed: int, scale: float = 10.0) -> np.ndarray:
        """Returns the user's cost matrix, or else the random one of a seed and a scale."""
        if self.costs is not None:
            return np.array(self.costs)
        return randomized_proportional(self.cost_labels(), scale=scale, seed=seed)

    def example_costs(self, part: str) -> np.ndarray | None:
        """Returns the examples' own costs of a split, `"val"` or `"test"`, or `None`."""
        return None

    def suiting(self, algorithm: Algorithm) -> "DataSource":
        """Returns the source in the form that an algorithm takes."""
        return self

    def raw(self) -> "DataSource":
        """Returns the source of the data as the user has them."""
        return self

    def finished(self, model: Any) -> Any:
        """Returns a trained classifier as it is saved."""
        return model

    @property
    def _without_size(self) -> "DataSource":
        return dataclasses.replace(self, train_size=None, costs_of_all=True, costs=None)


@functools.lru_cache(maxsize=1)
def _whole(source: DataSource) -> DataSet:
    try:
        data = datasets.load(source.name, grayscale=source.grayscale)
    except datasets.DataUnavailableError:
        raise  # The name is right, and its files are missing.
    except ValueError as error:
        hint = did_you_mean(source.name, DATASETS)
        raise type(error)(f"{error}{hint}") from error
    if source.imbalanced:
        data = datasets.imbalance(data, seed=source.seed, fraction=source.drop_rate)
    return data


@functools.lru_cache(maxsize=1)
def _part(source: DataSource) -> DataSet:
    whole = _whole(source._without_size)
    return datasets.subset(whole, source.train_size or 0, seed=source.seed)


def results_path(folder: pathlib.Path, label: str) -> pathlib.Path:
    """Returns the file of the decisions on the test examples of one data set."""
    return folder / "test_decisions" / f"{label}.npz"
