"""The plot of a comparison."""

import pathlib

import numpy as np

from csdl_keras._utils.files import replacing
from csdl_keras._utils.optional import optional_module
from csdl_keras.experiments.results import Result
from csdl_keras.experiments.summary import Summary
from csdl_keras.training.algorithms import get_algorithm

# Okabe and Ito's palette, which colour-blind readers can tell apart.
_COLOURS = {"blind": "#999999", "baseline": "#CC79A7", "Bayes": "#0072B2", "SOSR": "#D55E00"}


def plot_costs(
    summaries: list[Summary], results: list[Result], title: str, path: pathlib.Path
) -> None:
    """Draws the average test cost of each algorithm, cheapest on top, and writes a PNG.

    Args:
        summaries: what `summarise` returned: the bars and their error bars.
        results: one for each algorithm and matrix: the dots.
        title: heading of the plot.
        path: the file.
    """
    figure_module = optional_module("matplotlib.figure", "compare")
    optional_module("matplotlib.backends.backend_agg", "compare")
    ordered = summaries[::-1]
    matrices = max(summary.matrices for summary in summaries)
    figure = figure_module.Figure(figsize=(8, 1.8 + 0.42 * len(ordered)), layout="constrained")
    axes = figure.subplots()
    for height, summary in enumerate(ordered):
        row = get_algorithm(summary.algorithm)
        axes.barh(height, summary.average_cost, color=_COLOURS[row.series], alpha=0.85, height=0.7)
        if np.isfinite(summary.standard_error):
            axes.errorbar(
                summary.average_cost, height, xerr=summary.standard_error, color="black", capsize=3
            )
        dots = [result.average_cost for result in results if result.algorithm == summary.algorithm]
        axes.plot(dots, [height] * len(dots), "o", color="black", markersize=3.5, alpha=0.5)
        end = max([*dots, summary.average_cost + np.nan_to_num(summary.standard_error)])
        axes.annotate(
            f"{summary.average_cost:.3f}"
            + (f" (n = {summary.matrices})" if summary.matrices < matrices else ""),
            (end, height),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontweight="bold" if height == len(ordered) - 1 else "normal",
        )
    axes.set_yticks(range(len(ordered)), [get_algorithm(s.algorithm).title for s in ordered])
    axes.set_xlabel("average cost of a test example (bar ± standard error over cost matrices)")
    axes.set_title(title, loc="left", parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.1)
    axes.set_xlim(left=0)
    present = [
        name for name in _COLOURS if any(get_algorithm(s.algorithm).series == name for s in ordered)
    ]
    words = {
        "blind": "cost-blind",
        "baseline": "baselines",
        "Bayes": "costs in prediction (Bayes)",
        "SOSR": "costs in training (SOSR)",
    }
    handles = [
        optional_module("matplotlib.patches", "compare").Patch(color=_COLOURS[name], alpha=0.85)
        for name in present
    ]
    figure.legend(
        handles,
        [words[name] for name in present],
        frameon=False,
        loc="outside lower center",
        ncols=len(present),
    )
    with replacing(path) as unfinished:
        figure.savefig(unfinished, dpi=150)
