"""The command `csdl-keras table1`."""

import argparse

HELP = "print the paper's Table 1: how each algorithm uses costs"
DESCRIPTION = "Prints the paper's Table 1: how each stage of each algorithm uses costs."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Does nothing, since the command has no arguments."""


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    from csdl_keras.paper.results import words

    print(f"{table1()}\n\n{words()['table1']}")
    return 0


def table1() -> str:
    """Formats the paper's Table 1, one algorithm per line."""
    from csdl_keras.training.algorithms import PAPER_ALGORITHMS, get_algorithm

    algorithms = map(get_algorithm, PAPER_ALGORITHMS)
    rows = [("algorithm", "name", "pre-training", "training", "prediction")]
    rows += [(it.title, it.name, *it.awareness) for it in algorithms]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)
