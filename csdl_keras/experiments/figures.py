"""The figures of a comparison and of a search."""

import pathlib
from collections.abc import Sequence

import numpy as np

from csdl_keras._utils.files import replacing
from csdl_keras._utils.optional import optional_module
from csdl_keras.experiments.comparison import Summary
from csdl_keras.experiments.reporting.palette import PALETTE
from csdl_keras.experiments.reporting.table import GROUPS
from csdl_keras.experiments.results import Result
from csdl_keras.experiments.trials import TrialRecord, varied
from csdl_keras.training.algorithms import get_algorithm

#: Hyperparameters that are drawn ahead of the others.
_FIRST = ("beta", "depth")


def plot_costs(
    summaries: Sequence[Summary], results: Sequence[Result], title: str, path: pathlib.Path
) -> None:
    """Draws the average test cost of each algorithm, the lowest on top, and writes a PNG.

    Args:
        summaries: the bars and their error bars, as `summarise` returns them.
        results: the dots, one for each algorithm and matrix.
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
        colour = PALETTE[get_algorithm(summary.algorithm).series].light
        axes.barh(height, summary.average_cost, color=colour, alpha=0.85, height=0.7)
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
    series = {get_algorithm(summary.algorithm).series for summary in ordered}
    present = [name for name in GROUPS if name in series]
    handles = [
        optional_module("matplotlib.patches", "compare").Patch(
            color=PALETTE[name].light, alpha=0.85
        )
        for name in present
    ]
    figure.legend(
        handles,
        [GROUPS[name] for name in present],
        frameon=False,
        loc="outside lower center",
        ncols=2,
    )
    with replacing(path) as unfinished:
        figure.savefig(unfinished, dpi=150)


def plot_search(records: Sequence[TrialRecord], path: pathlib.Path) -> None:
    """Draws the cost of trials against beta, depth and all else that varies, and writes a PNG.

    Args:
        records: the trials.
        path: the file.
    """
    from csdl_keras import plots  # needs Matplotlib

    done = [record for record in records if record.validation_cost is not None]
    numeric = [
        name
        for name in varied(done)
        if all(isinstance(record.values.get(name, 0), (int, float)) for record in done)
    ]
    names = [*(name for name in _FIRST if name in numeric)]
    names += [name for name in numeric if name not in names]
    figure_module = optional_module("matplotlib.figure", "compare")
    columns = min(max(len(names), 1), 3)
    rows = -(-max(len(names), 1) // columns)
    figure = figure_module.Figure(figsize=(4.2 * columns, 3.2 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(names) :]:
        axes.set_visible(False)
    for name, axes in zip(names, grid.flat, strict=False):
        chosen = [record for record in done if name in record.values]
        values = [record.values[name] for record in chosen]
        costs = np.array([record.validation_cost for record in chosen], float)
        plots.cost_against(values, costs, name, ax=axes, log=name.endswith("learning_rate"))
    with replacing(path) as unfinished:
        figure.savefig(unfinished, dpi=150)
