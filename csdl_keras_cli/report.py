"""The command `csdl-keras report`."""

import argparse
import pathlib

from csdl_keras_cli.arguments import add_out, check_packages

HELP = "make a report with verdicts, tables and figures from results of table2"
DESCRIPTION = (
    "Makes a report from a folder of results, as a page (report.html), Markdown and LaTeX: "
    "verdicts on the paper's claims, the paper's Table 2, figures and the curve of beta."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    parser.add_argument("folder", type=pathlib.Path, help="folder written by csdl-keras table2")
    add_out(parser, " (default: the same folder)")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    if not (arguments.folder / "test_decisions").is_dir():
        raise ValueError(f"{arguments.folder} is not a folder written by csdl-keras table2.")
    check_packages()
    from csdl_keras.paper.report import report

    for path in report(arguments.folder, arguments.out or arguments.folder):
        print(path)
    return 0
