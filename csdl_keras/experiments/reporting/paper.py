"""The paper's Table 2, and the data sets that it stands beside."""

import csv
import dataclasses
import functools
import importlib.resources

from csdl_keras.experiments.reporting.escaping import visible


@dataclasses.dataclass(frozen=True)
class PaperFigure:
    """Average test cost and standard error, in the paper's own digits.

    Args:
        cost: the cost as printed, such as `"15.9"`.
        standard_error: the standard error as printed.
        bold: whether the paper prints it in bold.

    Example:

    >>> str(PaperFigure("0.10", "0.003", False))
    '0.10 ± 0.003'
    """

    cost: str
    standard_error: str
    bold: bool

    def __str__(self) -> str:
        return f"{self.cost} ± {self.standard_error}"


@functools.cache
def paper_table2() -> dict[tuple[str, bool, str], PaperFigure]:
    """Reads Table 2: 8 data sets, 15 algorithms.

    Returns:
        Figures by data set (`"mnist"`, `"bg_img_rot"`, `"svhn"` or
        `"cifar10"`), whether it is the imbalanced variant, and algorithm.

    Example:

    >>> str(paper_table2()["cifar10", True, "csdnn"])
    '6.48 ± 0.09'
    """
    path = importlib.resources.files(__package__) / "paper_table2.csv"
    return {
        (row["dataset"], row["imbalanced"] == "True", row["algorithm"]): PaperFigure(
            row["cost"], row["standard_error"], row["bold"] == "True"
        )
        for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    }


@dataclasses.dataclass(frozen=True)
class DataTitle:
    """The name of a data set in tables, and its counterpart in the paper.

    Args:
        title: the name that readers see.
        paper: name of the paper's data set in `paper_table2`, `None` (default)
            where the paper has no counterpart.
        same: whether it is the paper's data set itself, and not one made like it.
            Defaults to True.
        examples: number of examples for training and validation of the whole set, `None`
            (default) where the paper has no counterpart.
    """

    title: str
    paper: str | None = None
    same: bool = True
    examples: int | None = None


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
    """Looks up the title of a data set; an unknown data set is shown by its name.

    Args:
        name: name of the data set in `results.csv`.

    Returns:
        A `DataTitle`.

    Example:

    >>> data_title("cifar10").title, data_title("emnist/letters").title
    ('CIFAR-10', 'emnist/letters')
    """
    return _TITLES.get(name, DataTitle(visible(name)))


def variant_title(name: str, imbalanced: bool) -> str:
    """Returns the title of a data set, with its variant.

    Args:
        name: name of the data set in `results.csv`.
        imbalanced: whether it is the imbalanced variant.

    Example:

    >>> variant_title("mnist", True)
    'MNIST, imbalanced'
    """
    title = data_title(name).title
    return f"{title}, imbalanced" if imbalanced else title


def data_order(name: str) -> tuple[int, str]:
    """Sort key of data sets: those of the paper in its order, then others by name."""
    names = list(_TITLES)
    return (names.index(name) if name in names else len(names), name)
