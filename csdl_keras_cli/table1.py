"""The command `csdl-keras table1`: its arguments, none, and the run."""

import argparse

HELP = "print the paper's Table 1, how each algorithm treats costs"
DESCRIPTION = "Prints the paper's Table 1: how each stage of each algorithm treats costs."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds nothing: the command has no arguments."""


def check(arguments: argparse.Namespace) -> None:
    """Finds nothing wrong."""


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    from csdl_keras.paper.table1 import LEGEND, table1

    print(f"{table1()}\n\n{LEGEND}")
    return 0
