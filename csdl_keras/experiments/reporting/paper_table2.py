"""The figures of the paper's Table 2."""

import csv
import functools
import importlib.resources

from csdl_keras.experiments.reporting.paper_figure import PaperFigure


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
    path = importlib.resources.files("csdl_keras.experiments") / "paper_table2.csv"
    return {
        (row["dataset"], row["imbalanced"] == "True", row["algorithm"]): PaperFigure(
            row["cost"], row["standard_error"], row["bold"] == "True"
        )
        for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    }
