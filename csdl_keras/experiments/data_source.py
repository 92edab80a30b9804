"""The data of a grid, by name."""

import dataclasses
import functools
import pathlib

import numpy as np

from csdl_keras import datasets
from csdl_keras._utils.checks import check_number
from csdl_keras.datasets import DataSet


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
    """

    name: str
    imbalanced: bool = False
    train_size: int | None = None
    seed: int = 0
    drop_rate: float = 0.7
    grayscale: bool = False
    costs_of_all: bool = True

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

    @property
    def _without_size(self) -> "DataSource":
        return dataclasses.replace(self, train_size=None, costs_of_all=True)


@functools.lru_cache(maxsize=1)
def _whole(source: DataSource) -> DataSet:
    data = datasets.load(source.name, grayscale=source.grayscale)
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
