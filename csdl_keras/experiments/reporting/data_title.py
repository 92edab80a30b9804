"""How data sets are called, and which of the paper's they stand beside."""

import dataclasses

from csdl_keras.experiments.reporting.visible import visible


@dataclasses.dataclass(frozen=True)
class DataTitle:
    """A data set in tables.

    Args:
        title: what readers see.
        paper: name of the paper's data set in `paper_table2`, `None` (default)
            where the paper has none like it.
        same: whether it is the paper's data, and not only like it.
    """

    title: str
    paper: str | None = None
    same: bool = True


_TITLES = {
    "mnist": DataTitle("MNIST", "mnist"),
    "bg_img_rot": DataTitle("bg-img-rot", "bg_img_rot"),
    "bg_img_rot_synthetic": DataTitle("bg-img-rot, synthetic", "bg_img_rot", same=False),
    "svhn": DataTitle("SVHN", "svhn"),
    "cifar10": DataTitle("CIFAR-10", "cifar10"),
    "mnist_5k": DataTitle("MNIST, 5,000 images"),
    "digits": DataTitle("digits, 8 × 8"),
}


def data_title(name: str) -> DataTitle:
    """The title of a data set; of an unknown one, its name.

    Args:
        name: name of the data set in `results.csv`.

    Returns:
        A `DataTitle`.

    Example:

    >>> data_title("cifar10").title, data_title("emnist/letters").title
    ('CIFAR-10', 'emnist/letters')
    """
    return _TITLES.get(name, DataTitle(visible(name)))


def data_order(name: str) -> tuple[int, str]:
    """Sorts data sets: those of the paper in its order, then others by name."""
    names = list(_TITLES)
    return (names.index(name) if name in names else len(names), name)
