"""Average cost against beta, over repetitions."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator

from csdl_keras._array_checks import check_label
from csdl_keras._checks import check_bool
from csdl_keras.plots._axes import GREY, axes_of_curves, mark_lowest, next_colour
from csdl_keras.plots._beta_table import beta_table


def beta_curve(
    betas: Any,
    costs: Any,
    ax: Axes | None = None,
    label: str | None = None,
    relative: bool = False,
) -> Axes:
    """Draws the mean cost over repetitions against beta, the weight of costs in pre-training.

    Betas are spaced evenly, since those of the paper, 0, .05, .1, .25, .4, .75
    and 1, are crowded near 0. The band is the mean plus minus one standard
    error. A star marks the lowest mean.

    Cost matrices differ in what they cost at all, which widens the band and
    shifts the mean where a cost is missing. `relative=True` takes that out.

    Args:
        betas: ascending, shape `(B,)`, in [0, 1].
        costs: shape `(R, B)`, a row for each repetition (a cost matrix or a
            seed) and a column for each beta, from 0 to 1e38; NaN is missing.
            One row has no band.
        ax: the Axes to draw on; `None` (default) makes a new figure.
        label: the curve's name in the legend. Defaults to `None`, no name.
        relative: `True` divides each repetition's costs by its own at
            `beta = 0`, which must be the first: mean and band are those of
            the ratios. Defaults to `False`.

    Returns:
        The Axes.

    Raises:
        ValueError: if betas or costs are not as above, or `ax` has a curve of
            other betas.

    Example:

    >>> ax = beta_curve([0, 0.25, 1], [[1.0, 0.6, 0.8], [2.0, 1.6, 1.8]], relative=True)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['lowest: 0.7 at β = 0.25']
    """
    check_bool("relative", relative)
    grid, means, errors = beta_table(betas, costs, relative)
    label = check_label(label)
    axes = axes_of_curves(ax)
    names = [f"{beta:g}" for beta in grid]
    _check_ticks(axes, names)
    colour = next_colour(axes)
    x = np.arange(len(grid))
    if relative and not axes.get_lines():
        axes.axhline(1.0, color=GREY, linestyle="--", linewidth=1.2)
    if np.isfinite(errors).any():
        axes.fill_between(x, means - errors, means + errors, color=colour, alpha=0.2, linewidth=0)
    axes.plot(x, means, "o-", color=colour, markersize=5, label=label)
    best = int(np.nanargmin(means))
    mark_lowest(axes, x[best], means[best], colour, f"at β = {names[best]}")
    axes.set_xticks(x, names)
    axes.set_xlabel("β")
    axes.set_ylabel("average cost relative to β = 0" if relative else "average cost")
    axes.legend(frameon=False)
    return axes


def _check_ticks(axes: Axes, names: list[str]) -> None:
    """Raises if the Axes has names of other betas, to which points would be assigned wrongly."""
    if not isinstance(axes.xaxis.get_major_locator(), FixedLocator):
        return
    present = [text.get_text() for text in axes.get_xticklabels()]
    if present != names:
        raise ValueError(
            f"Expected an `ax` without named ticks or with a curve of the same betas {names}; "
            f"received one with the ticks {present}."
        )
