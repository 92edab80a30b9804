"""The plot of a search."""

import pathlib

from csdl_keras._utils.files import replacing
from csdl_keras._utils.optional import optional_module
from csdl_keras.experiments.trials import TrialRecord, varied

#: What a search is about, ahead of the rest.
_FIRST = ("beta", "depth")


def plot_search(records: list[TrialRecord], path: pathlib.Path) -> None:
    """Draws the cost of trials against beta, depth and whatever else varies, and writes a PNG.

    Args:
        records: the trials.
        path: the file.
    """
    from csdl_keras import plots

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
        costs = [record.validation_cost for record in chosen]
        plots.cost_against(values, costs, name, ax=axes, log=name.endswith("learning_rate"))
    with replacing(path) as unfinished:
        figure.savefig(unfinished, dpi=150)
