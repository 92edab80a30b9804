"""The command `csdl-keras report`."""

import argparse
import contextlib
import pathlib

from csdl_keras._utils.files import check_writable, replace_file
from csdl_keras._utils.optional import optional_module
from csdl_keras.experiments.failures import Failures
from csdl_keras.experiments.reporting.figures import costs_png, curves_png
from csdl_keras.experiments.reporting.render import (
    read_contents,
    render_latex,
    render_markdown,
    render_page,
)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    failures = Failures()
    for path in report(arguments.folder, arguments.out or arguments.folder, failures):
        print(path)
    return failures.tell()


def report(
    folder: pathlib.Path, out: pathlib.Path, failures: Failures | None = None
) -> list[pathlib.Path]:
    """Writes tables, figures and the paper's claims beside our figures.

    It reads `results.csv` and, if they exist, `test_decisions/`, `beta_curve.csv`
    and `run.json`; algorithms that have not been run have empty cells. It writes
    `report.html`, which needs no other file, `table2.md`, `table2.tex` (to be read
    by `\\input`, with the package booktabs), `figures/costs.png` and, if there are
    curves, `figures/beta_curve.png`.

    Args:
        folder: folder of results, as `csdl-keras table2` and `csdl-keras
            compare` write it.
        out: folder for the files that it writes; made if it does not exist. Files of
            those names are replaced.
        failures: collects the errors of files that cannot be made, while the others
            are written; `None` (default) raises the first error.

    Returns:
        The paths of the files that were written.

    Raises:
        ValueError: if a file or column is missing or does not fit the others, or
            if `out` cannot be written.
        ModuleNotFoundError: if jinja2 or matplotlib is missing.
    """
    for name in ("jinja2", "matplotlib"):  # A missing package shows before the work, not after it.
        optional_module(name, "compare")
    contents = read_contents(folder)
    check_writable("--out", out / "figures")
    files = {
        "report.html": lambda: render_page(contents).encode(),
        "table2.md": lambda: render_markdown(contents).encode(),
        "table2.tex": lambda: render_latex(contents).encode(),
        "figures/costs.png": lambda: costs_png(contents.table),
    }
    if contents.curves:
        files["figures/beta_curve.png"] = lambda: curves_png(contents.curves)
    paths = []
    for name, make in files.items():
        with contextlib.nullcontext() if failures is None else failures.step(name):
            replace_file(out / name, make())
            paths.append(out / name)
    return paths
