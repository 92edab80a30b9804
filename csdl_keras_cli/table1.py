"""Arguments of `csdl-keras table1`."""

import argparse

HELP = "print the paper's Table 1, how each algorithm treats costs"
DESCRIPTION = "Prints the paper's Table 1: how each stage of each algorithm treats costs."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds nothing: the command has no arguments."""


def check(arguments: argparse.Namespace) -> None:
    """Finds nothing wrong."""
