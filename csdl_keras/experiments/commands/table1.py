"""The command `csdl-keras table1`."""

import argparse

from csdl_keras.training.algorithms import PAPER_ALGORITHMS, get_algorithm

HELP = "print the paper's Table 1, how each algorithm treats costs"
DESCRIPTION = "Prints the paper's Table 1: how each stage of each algorithm treats costs."

_HEADINGS = ("algorithm", "name", "pre-training", "training", "prediction")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds nothing: the command has no arguments."""


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    print(table1())
    return 0


def table1() -> str:
    """Formats the paper's Table 1 from `ALGORITHMS`, one algorithm a line.

    Returns:
        Lines of text: title of the algorithm, its name in code, and how each stage
        treats costs (O: cost-aware, E: error-aware, X: cost-blind, none: no such stage).

    Example:

    >>> print(table1().splitlines()[14])
    CSDNN       csdnn       O             O         X
    """
    algorithms = map(get_algorithm, PAPER_ALGORITHMS)
    rows = [_HEADINGS, *((it.title, it.name, *it.awareness) for it in algorithms)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)
