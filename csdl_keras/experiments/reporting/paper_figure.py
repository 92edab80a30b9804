"""One cell of the paper's Table 2."""

import dataclasses


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
