"""The command `csdl-keras report`: its arguments, and the run."""

import argparse
import pathlib

from csdl_keras_cli.arguments import add_out, check_packages

HELP = "make tables and figures of results"
DESCRIPTION = (
    "Makes the paper's Table 2 of a folder of results, with the paper's figures, the curve of beta "
    "and verdicts on the paper's claims: a page (report.html), Markdown and LaTeX."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    parser.add_argument("folder", type=pathlib.Path, help="folder of csdl-keras table2")
    add_out(parser, " (default: the same folder)")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    if not (arguments.folder / "test_decisions").is_dir():
        raise ValueError(
            "Expected a folder with results.csv and test_decisions, as csdl-keras table2 writes "
            f"it; received {arguments.folder}."
        )
    check_packages()
    from csdl_keras.paper.report import report

    for path in report(arguments.folder, arguments.out or arguments.folder):
        print(path)
    return 0
