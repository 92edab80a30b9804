"""Plot of the average cost against the threshold of a binary decision."""

import numpy as np
from matplotlib.axes import Axes

from csdl_keras._utils.arrays import as_array, check_label, check_rows
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs import check_cost_matrix, check_labels
from csdl_keras.evaluation.calibration_error import check_probabilities
from csdl_keras.plots._axes import (
    GREY,
    axes_of_curves,
    label_curves,
    mark_lowest,
    next_colour,
    number,
)

# Where the axis ends: above 1, since thresholds above 1 never decide class 1.
_RIGHT_END = 1.03


def threshold_table(
    y_true: ArrayLike, probabilities: ArrayLike, cost_matrix: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Computes the average cost of deciding 1 if `P(1) >= t`, for all distinct decisions.

    Arguments and errors are those of `cost_against_threshold`.

    Returns:
        Thresholds and costs, float64 of shape `(M + 1,)`: the `M` distinct
        probabilities, ascending, followed by infinity, which never decides 1. Each
        cost applies to thresholds above the previous one, up to and including its own.
    """
    matrix = check_cost_matrix(cost_matrix, num_classes=2)
    labels = check_labels(y_true, 2)
    scores = _of_class_one(probabilities)
    check_rows("probabilities", scores, len(labels))
    thresholds, position = np.unique(scores, return_inverse=True)
    # Examples of each class below a threshold: those for which 0 is decided.
    below = np.zeros((2, len(thresholds) + 1))
    for label in (0, 1):
        counts = np.bincount(position[labels == label], minlength=len(thresholds))
        below[label, 1:] = np.cumsum(counts)
    wrongly_one, wrongly_zero = below[0, -1] - below[0], below[1]
    costs = (wrongly_one * matrix[0, 1] + wrongly_zero * matrix[1, 0]) / len(labels)
    return np.append(thresholds, np.inf), costs


def _of_class_one(probabilities: ArrayLike) -> np.ndarray:
    """Returns the probabilities of class 1, `(N,)`."""
    shape = "(N,), (N, 1) or (N, 2)"
    array = as_array("probabilities", probabilities, shape)
    rows = check_probabilities(array[:, None] if array.ndim == 1 else array)
    if rows.shape[1] > 2:
        raise ValueError(
            f"Expected `probabilities` of shape {shape}, since only problems of two classes have "
            f"a threshold; received shape {rows.shape}."
        )
    return rows[:, 1]


def cost_against_threshold(
    y_true: ArrayLike,
    probabilities: ArrayLike,
    cost_matrix: ArrayLike,
    ax: Axes | None = None,
    label: str | None = None,
) -> Axes:
    """Draws the average cost of deciding class 1 if `P(1) >= t` against `t`.

    The curve is exact: it has a step at each probability. A star marks the lowest
    cost, at the right end of the first level stretch with this cost. A dashed line
    shows the Bayes threshold `C[0, 1] / (C[0, 1] + C[1, 0])`, which is optimal for
    correct probabilities; it is left out if all costs are 0. A star far from the line
    suggests that the probabilities need calibration.

    Args:
        y_true: labels 0 and 1 of shape `(N,)`.
        probabilities: of class 1, shape `(N,)` or `(N, 1)`, or of both classes,
            shape `(N, 2)`.
        cost_matrix: shape `(2, 2)`, `C[true, decision]`: `C[0, 1]` is the cost of
            deciding 1 wrongly.
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
        # Curves of several models share one line.
        if words not in axes.get_legend_handles_labels()[1]:
            axes.axvline(bayes, color=GREY, linestyle="--", linewidth=1.2, label=words)
    ends = np.append(thresholds[:-1], _RIGHT_END)
    # The first cost applies to every threshold up to the first probability.
    axes.step(
        np.append(0.0, ends), np.append(costs[0], costs), where="pre", color=colour, label=label
    )
    best = int(np.argmin(costs))
    words = f"at {number(ends[best])}" if best < len(costs) - 1 else "above every probability"
    mark_lowest(axes, ends[best], costs[best], colour, words)
    axes.set_xlim(0.0, _RIGHT_END)
    axes.set_ylim(bottom=0.0)
    label_curves(axes, "threshold of P(class 1) from which class 1 is decided", "average cost")
    return axes
