"""Plot of the average cost against beta, over repetitions."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator

from csdl_keras._utils.arrays import real_array
from csdl_keras._utils.checks import check_bool
from csdl_keras._utils.types import ArrayLike
from csdl_keras.evaluation._report_text import with_unit
from csdl_keras.plots._axes import GREY, axes_of_curves, label_curves, mark_lowest


def beta_table(
    betas: ArrayLike, costs: ArrayLike, relative: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns betas, mean costs over repetitions and their standard errors, each `(B,)`."""
    grid = real_array("betas", betas, 1, "(B,)", low=0.0)
    if grid[-1] > 1.0 or np.any(np.diff(grid) <= 0):
        raise ValueError(f"Expected `betas` to ascend from 0 to 1; received {grid.tolist()}.")
    shape = f"(repetitions, {len(grid)}), a column for each beta"
    table = real_array("costs", costs, 2, shape, columns=len(grid), missing=True, low=0.0)
    if relative:
        if grid[0] != 0.0 or np.any(table[:, 0] == 0.0):
            raise ValueError(
                "Relative costs need costs above 0 at a first beta of 0; received a first "
                f"beta of {grid[0]} with costs from {table[:, 0].min()}."
            )
        table = table / table[:, :1]
    table = np.ma.masked_invalid(table)
    errors = table.std(axis=0, ddof=1) / np.sqrt(table.count(axis=0))
    return grid, table.mean(axis=0).filled(np.nan), errors.filled(np.nan)


def beta_curve(
    betas: ArrayLike,
    costs: ArrayLike,
    ax: Axes | None = None,
    label: str | None = None,
    relative: bool = False,
    unit: str | None = None,
) -> Axes:
    """Draws the mean cost over repetitions against beta, the weight of costs in pre-training.

    Betas are spaced evenly, since those of the paper are dense near 0. The band is the mean plus
    and minus one standard error. A star marks the lowest mean.

    Args:
        betas: ascending, shape `(B,)`, in [0, 1].
        costs: shape `(R, B)`, a row for each repetition (a cost matrix or a seed) and a column for
            each beta; NaN is a missing cost. A single row has no band.
        ax: the Axes to draw on; `None` (default) makes a new figure.
        label: the curve's name in the legend. Defaults to `None`, no name.
        relative: whether to divide the costs of each repetition by its cost at the first beta,
            which must be 0, since the level of costs differs between matrices. Defaults to False.
        unit: unit of costs, such as `"€"`, not used for ratios; `None` (default) for none.

    Returns:
        The Axes.

    Example:

    >>> ax = beta_curve([0, 0.25, 1], [[1.0, 0.6, 0.8], [2.0, 1.6, 1.8]], relative=True)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['lowest: 0.7 at β = 0.25']
    """
    check_bool("relative", relative)
    grid, means, errors = beta_table(betas, costs, relative)
    words = "average cost relative to β = 0" if relative else with_unit("average cost", unit)
    axes, colour = axes_of_curves(ax)
    names = [f"{beta:g}" for beta in grid]
    present = [text.get_text() for text in axes.get_xticklabels()]
    if isinstance(axes.xaxis.get_major_locator(), FixedLocator) and present != names:
        raise ValueError(
            f"`ax` has the ticks {present}, which are not the betas {names}. Pass another Axes."
        )
    x = np.arange(len(grid))
    if relative and not axes.get_lines():
        axes.axhline(1.0, color=GREY, linestyle="--", linewidth=1.2)
    if np.isfinite(errors).any():
        axes.fill_between(x, means - errors, means + errors, color=colour, alpha=0.2, linewidth=0)
    axes.plot(x, means, "o-", color=colour, markersize=5, label=label)
    best = int(np.nanargmin(means))
    mark_lowest(axes, x[best], means[best], colour, f"at β = {names[best]}")
    axes.set_xticks(x, names)
    label_curves(axes, "β", words)
    return axes
