"""Data of a grid, named so that any process can load it."""

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
        imbalanced: whether four random classes are thinned out.
        train_size: examples of training and validation; `None` (default) is all.
        seed: seed of the thinning and of the choice of examples.
        drop_rate: share of the thinned-out classes that is removed. Defaults to
            0.7, as in the paper; the authors' code has 0.9 for SVHN.
        grayscale: whether images lose their colours. Defaults to False.
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
    def parse(cls, text: str, **choices: object) -> "DataSource":
        """The source that `"mnist"` or, for the imbalanced variant, `"mnist_imb"` names."""
        name = text.removesuffix("_imb")
        return cls(name, imbalanced=name != text, **choices)  # type: ignore[arg-type]

    @property
    def label(self) -> str:
        """Its name in files: that of the data set, with `_imb` for the imbalanced variant."""
        return self.name.replace("/", "_") + ("_imb" if self.imbalanced else "")

    def load(self) -> DataSet:
        """The data; the last ones that were asked for stay in memory."""
        whole = _whole(dataclasses.replace(self, train_size=None))
        if self.train_size is None or self.train_size >= len(whole.y_train_val):
            return whole
        return _part(self)

    def cost_labels(self) -> np.ndarray:
        """The labels whose counts shape cost matrices: all of training and validation.

        They do not depend on `train_size`, and so neither do the matrices.
        """
        return _whole(dataclasses.replace(self, train_size=None)).y_train_val


@functools.lru_cache(maxsize=1)
def _whole(source: DataSource) -> DataSet:
    data = datasets.load(source.name, grayscale=source.grayscale)
    if source.imbalanced:
        data = datasets.imbalance(data, seed=source.seed, fraction=source.drop_rate)
    return data


@functools.lru_cache(maxsize=1)
def _part(source: DataSource) -> DataSet:
    whole = _whole(dataclasses.replace(source, train_size=None))
    return datasets.subset(whole, source.train_size or 0, seed=source.seed)


def results_path(folder: pathlib.Path, label: str) -> pathlib.Path:
    """The file of decisions on the test examples of one data set."""
    return folder / "test_decisions" / f"{label}.npz"
