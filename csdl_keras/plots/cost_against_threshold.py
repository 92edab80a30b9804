"""Average cost against the threshold of a binary decision."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from csdl_keras._array_checks import check_label
from csdl_keras.costs import check_cost_matrix
from csdl_keras.plots._axes import GREY, axes_of_curves, mark_lowest, next_colour, number
from csdl_keras.plots._threshold import threshold_table

# Thresholds above 1 never decide class 1, also where a probability is 1: the end of the curve.
_RIGHT_END = 1.03


def cost_against_threshold(
    y_true: Any,
    probabilities: Any,
    cost_matrix: Any,
    ax: Axes | None = None,
    label: str | None = None,
) -> Axes:
    """Draws the average cost of deciding class 1 if `P(1) >= t` against `t`.

    The curve is exact: it steps at each probability. A star marks the lowest
    cost at the threshold, of those with this cost, that is lowest: up to the
    star the curve is level. A dashed line is at the Bayes threshold
    `C[0, 1] / (C[0, 1] + C[1, 0])`, the best one for probabilities that are
    right; if nothing costs anything there is none. A star far away from the
    line is a sign of probabilities that need calibration.

    Args:
        y_true: labels 0 and 1 of shape `(N,)`.
        probabilities: of class 1, shape `(N,)` or `(N, 1)`, or of both classes,
            shape `(N, 2)`.
        cost_matrix: shape `(2, 2)`, `C[true, decision]`: `C[0, 1]` is what it
            costs to decide 1 wrongly.
        ax: the Axes to draw on; `None` (default) makes a new figure.
        label: the curve's name in the legend. Defaults to `None`, no name.

    Returns:
        The Axes.

    Raises:
        ValueError: if labels, probabilities or the matrix fail their checks.

    Example:

    >>> ax = cost_against_threshold([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.9], [[0, 1], [9, 0]])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['Bayes threshold 0.1', 'lowest: 0.25 at 0.3']
    """
    thresholds, costs = threshold_table(y_true, probabilities, cost_matrix)
    matrix = check_cost_matrix(cost_matrix)
    label = check_label(label)
    axes = axes_of_curves(ax)
    colour = next_colour(axes)
    total = matrix[0, 1] + matrix[1, 0]
    if total > 0:
        bayes = matrix[0, 1] / total
        words = f"Bayes threshold {number(bayes)}"
        # Several models share one line.
        if words not in axes.get_legend_handles_labels()[1]:
            axes.axvline(bayes, color=GREY, linestyle="--", linewidth=1.2, label=words)
    ends = np.append(thresholds[:-1], _RIGHT_END)
    # The first cost is that of every threshold up to the first probability.
    axes.step(
        np.append(0.0, ends), np.append(costs[0], costs), where="pre", color=colour, label=label
    )
    best = int(np.argmin(costs))
    words = f"at {number(ends[best])}" if best < len(costs) - 1 else "above every probability"
    mark_lowest(axes, ends[best], costs[best], colour, words)
    axes.set_xlim(0.0, _RIGHT_END)
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("threshold of P(class 1) from which class 1 is decided")
    axes.set_ylabel("average cost")
    axes.legend(frameon=False)
    return axes
