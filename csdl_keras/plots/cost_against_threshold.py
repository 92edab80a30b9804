"""The table behind the curve of average cost against threshold."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from csdl_keras._utils.arrays import as_array, check_label, check_rows, real_array
from csdl_keras.costs import check_cost_matrix, check_labels
from csdl_keras.plots._axes import GREY, axes_of_curves, mark_lowest, next_colour, number


def threshold_table(
    y_true: Any, probabilities: Any, cost_matrix: Any
) -> tuple[np.ndarray, np.ndarray]:
    """The average cost of deciding 1 if `P(1) >= t`, for every `t` that makes a difference.

    Args:
        y_true: labels 0 and 1 of shape `(N,)`.
        probabilities: of class 1, shape `(N,)` or `(N, 1)`, or of both classes,
            shape `(N, 2)`.
        cost_matrix: shape `(2, 2)`, `C[true, decision]`.

    Returns:
        Thresholds and costs, float64 of shape `(M + 1,)`: the `M` different
        probabilities, ascending, and infinity, which never decides 1. A cost
        holds for thresholds above the previous one up to and including its own.

    Raises:
        ValueError: if an argument fails its check.

    Example:

    >>> thresholds, costs = threshold_table([0, 1, 1], [0.2, 0.2, 0.7], [[0, 1], [9, 0]])
    >>> thresholds
    array([0.2, 0.7, inf])
    >>> costs.round(3)
    array([0.333, 3.   , 6.   ])
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


def _of_class_one(probabilities: Any) -> np.ndarray:
    shape = "(N,), (N, 1) or (N, 2)"
    given = as_array("probabilities", probabilities, shape)
    ndim = 1 if given.ndim == 1 else 2
    array = real_array("probabilities", given, ndim, shape, low=0.0)
    if array.max() > 1.0:
        raise ValueError(
            f"Expected `probabilities` of at most 1; received {array.max()}. "
            "Are they logits or costs?"
        )
    if ndim == 1:
        return array
    if array.shape[1] > 2:
        raise ValueError(
            f"Expected `probabilities` of shape {shape}, since only problems of two classes have "
            f"a threshold; received shape {array.shape}."
        )
    sums = array.sum(axis=1)
    # Loose enough for softmax in 16 bits.
    wrong = np.flatnonzero(np.abs(sums - 1.0) > 0.01)
    if array.shape[1] == 2 and len(wrong):
        raise ValueError(
            "Expected every row of `probabilities` to sum to 1; "
            f"received the sum {sums[wrong[0]]} in row {wrong[0]}."
        )
    return array[:, -1]


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
