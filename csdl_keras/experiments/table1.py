"""The command `csdl-keras table1`."""

from csdl_keras.training.algorithms import PAPER_ALGORITHMS, get_algorithm

_HEADINGS = ("algorithm", "name", "pre-training", "training", "prediction")


def table1() -> str:
    """The paper's Table 1 from `ALGORITHMS`, an algorithm a line.

    Returns:
        Lines of text: algorithm, its name in code, and how each stage treats
        costs (O: cost-aware, E: error-aware, X: cost-blind, none: no such stage).

    Example:

    >>> print(table1().splitlines()[14])
    CSDNN       csdnn       O             O         X
    """
    rows = [_HEADINGS]
    rows += [(row.title, row.name, *row.awareness) for row in map(get_algorithm, PAPER_ALGORITHMS)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)
