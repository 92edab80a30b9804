"""Renders a results folder as the paper's Table 2."""

import contextlib
import pathlib

from csdl_keras._utils.files import replace_file
from csdl_keras._utils.optional import optional_module
from csdl_keras.experiments.failures import Failures
from csdl_keras.experiments.reporting.contents import read_contents
from csdl_keras.experiments.reporting.figures import draw_beta_curves, draw_costs
from csdl_keras.experiments.reporting.latex import render_latex
from csdl_keras.experiments.reporting.markdown import render_markdown
from csdl_keras.experiments.reporting.page import render_page


def report(
    folder: pathlib.Path, out: pathlib.Path, failures: Failures | None = None
) -> list[pathlib.Path]:
    """Writes tables, figures and what they say of the paper's claims.

    It reads `results.csv`, and where they are there, `test_decisions/`,
    `beta_curve.csv` and `run.json`; what has not been run is left open. It
    writes `report.html`, which needs no other file, `table2.md`, `table2.tex`
    (to be read by `\\input`, with the package booktabs), `figures/costs.png`
    and, if there are curves, `figures/beta_curve.png`.

    Args:
        folder: folder of results, as `csdl-keras table2` and `csdl-keras
            compare` write it.
        out: folder for what it writes; made if it does not exist. Files of those
            names are replaced.
        failures: is told the files that cannot be made; the others are written then.
            `None` (default) raises the first error.

    Returns:
        The paths of what was written.

    Raises:
        ValueError: if a file or column is missing or does not fit the others, or
            if `out` cannot be written.
        ModuleNotFoundError: if matplotlib is missing.
    """
    optional_module("matplotlib", "compare")  # before the work, not after it
    contents = read_contents(folder)
    files = {
        "report.html": lambda: render_page(contents).encode(),
        "table2.md": lambda: render_markdown(contents).encode(),
        "table2.tex": lambda: render_latex(contents.table).encode(),
        "figures/costs.png": lambda: draw_costs(contents.table),
    }
    if contents.curves:
        files["figures/beta_curve.png"] = lambda: draw_beta_curves(contents.curves)
    try:
        (out / "figures").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(
            f"Expected the report's folder to be one that can be written; {error}."
        ) from error
    paths = []
    for name, make in files.items():
        with contextlib.nullcontext() if failures is None else failures.step(name):
            replace_file(out / name, make())
            paths.append(out / name)
    return paths
