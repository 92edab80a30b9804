"""The paper's Table 2, and titles of the data sets that it stands beside."""

import functools
import importlib.resources
from typing import NamedTuple

import pandas


class DataTitle(NamedTuple):
    """The name of a data set in tables, and its counterpart in the paper, `None` without one.

    `same` says whether it is the paper's data set itself, `examples` how many that has for
    training and validation.
    """

    title: str
    paper: str | None = None
    same: bool = True
    examples: int = 0


_TITLES = {
    "mnist": DataTitle("MNIST", "mnist", examples=60_000),
    "bg_img_rot": DataTitle("bg-img-rot", "bg_img_rot", examples=12_000),
    "bg_img_rot_synthetic": DataTitle("bg-img-rot, synthetic", "bg_img_rot", False, 12_000),
    "svhn": DataTitle("SVHN", "svhn", examples=73_257),
    "cifar10": DataTitle("CIFAR-10", "cifar10", examples=50_000),
    "mnist_5k": DataTitle("MNIST, 5,000 images"),
    "digits": DataTitle("digits, 8 × 8"),
}


def data_title(name: str) -> DataTitle:
    """Returns the title of a data set; an unknown one is shown by its name."""
    return _TITLES.get(name, DataTitle(name))


def variant_title(name: str, imbalanced: bool) -> str:
    """Returns the title of a data set with its variant, such as `"MNIST, imbalanced"`."""
    return data_title(name).title + ", imbalanced" * imbalanced


def label_title(label: str) -> str:
    """Returns the title of a data set by its name in options, such as `"mnist_imb"`."""
    return variant_title(label.removesuffix("_imb"), label.endswith("_imb"))


def data_order(name: str, imbalanced: bool) -> tuple[bool, int, str]:
    """Sort key: balanced sets first, those of the paper in its order, then others by name."""
    names = list(_TITLES)
    return imbalanced, names.index(name) if name in names else len(names), name


@functools.cache
def paper_table2() -> pandas.DataFrame:
    """Returns `cost`, `standard_error`, `bold` as printed, by data set, variant and algorithm."""
    path = importlib.resources.files(__package__) / "paper_table2.csv"
    with path.open(encoding="utf-8") as file:
        frame = pandas.read_csv(file, dtype={"cost": str, "standard_error": str})
    return frame.set_index(["dataset", "imbalanced", "algorithm"])
