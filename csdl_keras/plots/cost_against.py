"""Plot of the cost of trials against one hyperparameter."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter

from csdl_keras._utils.arrays import check_rows, real_array
from csdl_keras._utils.types import ArrayLike
from csdl_keras.evaluation._report_text import number, with_unit
from csdl_keras.plots._axes import axes_of_curves, label_curves, mark_lowest


def cost_against(
    values: ArrayLike,
    costs: ArrayLike,
    name: str,
    ax: Axes | None = None,
    log: bool = False,
    label: str | None = None,
    unit: str | None = None,
) -> Axes:
    """Draws the cost of each trial against its value of one hyperparameter.

    A line connects the lowest costs at each value if values repeat and there are at most 12
    distinct ones, as in a grid search. A star marks the best trial, the first one on ties.

    Args:
        values: values of the hyperparameter, numbers of shape `(T,)`.
        costs: costs of the trials, shape `(T,)`, finite; leave out failed trials.
        name: name of the hyperparameter, the label of the horizontal axis.
        log: `True` makes the horizontal axis logarithmic. Defaults to `False`.
        ax, label, unit: as in `beta_curve`.

    Returns:
        The Axes.

    Example:

    >>> ax = cost_against([1, 1, 2, 3], [0.5, 0.7, 0.2, 0.3], "hidden layers")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['lowest: 0.2 at 2']
    """
    x = real_array("values", values, 1, "(T,)")
    y = real_array("costs", costs, 1, "(T,)")
    check_rows("costs", y, len(x), "`values`")
    if log and x.min() <= 0:
        raise ValueError(f"A logarithmic axis cannot show {x.min()}. Pass log=False.")
    axes, colour = axes_of_curves(ax)
    if log:
        axes.set_xscale("log")
        # Within one power of ten, Matplotlib's default labels of ticks would overlap.
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    elif np.all(x == np.rint(x)):
        # Ticks between whole numbers, such as 2.5 layers, make no sense.
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    distinct = np.unique(x)
    # With more distinct values, or if none repeats, a line would show noise.
    has_line = len(distinct) <= min(12, len(x) - 1)
    dots: dict[str, Any] = {"color": colour, "alpha": 0.45, "markersize": 5, "markeredgewidth": 0}
    axes.plot(x, y, "o", label=None if has_line else label, **dots)
    if has_line:
        axes.plot(distinct, [y[x == value].min() for value in distinct], color=colour, label=label)
    best = int(np.argmin(y))
    mark_lowest(axes, x[best], y[best], colour, f"at {number(x[best], 3)}")
    label_curves(axes, name, with_unit("cost", unit))
    return axes
