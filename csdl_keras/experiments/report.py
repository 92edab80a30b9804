"""Renders a results folder as the paper's Table 2."""

import pathlib

from csdl_keras._optional import optional_module
from csdl_keras._replace_file import replace_file
from csdl_keras.experiments.reporting.contents import read_contents
from csdl_keras.experiments.reporting.figures import draw_beta_curves, draw_costs
from csdl_keras.experiments.reporting.latex import render_latex
from csdl_keras.experiments.reporting.markdown import render_markdown
from csdl_keras.experiments.reporting.page import render_page


def report(folder: pathlib.Path, out: pathlib.Path) -> list[pathlib.Path]:
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
        "report.html": render_page(contents).encode(),
        "table2.md": render_markdown(contents).encode(),
        "table2.tex": render_latex(contents.table).encode(),
        "figures/costs.png": draw_costs(contents.table),
    }
    if contents.curves:
        files["figures/beta_curve.png"] = draw_beta_curves(contents.curves)
    paths = []
    for name, content in files.items():
        path = out / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, content)
        except OSError as error:
            raise ValueError(
                f"Expected the report's folder to be one that can be written; {error}."
            ) from error
        paths.append(path)
    return paths
