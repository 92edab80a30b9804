"""Plot of the average cost against the threshold of a binary decision."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from csdl_keras._utils.arrays import check_rows
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.known import CostsLike, expected_costs
from csdl_keras.evaluation._report_text import number, with_unit
from csdl_keras.evaluation.as_numbers import as_numbers
from csdl_keras.evaluation.calibration_error import probabilities_by_class
from csdl_keras.evaluation.scores import average_cost, example_costs
from csdl_keras.plots._axes import GREY, axes_of_curves, label_curves, mark_lowest

# The axis ends above 1, since thresholds above 1 never decide class 1.
_RIGHT_END = 1.03


def threshold_table(
    y_true: ArrayLike, probabilities: ArrayLike, cost_matrix: CostsLike
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the average cost of deciding 1 if `P(1) >= t`, for each probability and infinity."""
    labels, costs = as_numbers(y_true, cost_matrix, None)
    rows = probabilities_by_class(probabilities)
    if costs.shape[-2:] != (2, 2) or rows.shape[1] > 2:
        raise ValueError(
            "Only problems of two classes and two decisions have a threshold; received costs of "
            f"shape {costs.shape} and probabilities of shape {rows.shape}."
        )
    vectors, scores = example_costs(labels, costs), rows[:, 1]
    check_rows("probabilities", scores, len(labels))
    thresholds, position = np.unique(scores, return_inverse=True)
    # Row k contains the costs of deciding k for the examples of each probability.
    sums = [np.bincount(position, vectors[:, k], len(thresholds)) for k in (0, 1)]
    below = np.append(0.0, np.cumsum(sums[0]))
    above = np.append(np.cumsum(sums[1][::-1])[::-1], 0.0)
    return np.append(thresholds, np.inf), (below + above) / len(labels)


def cost_against_threshold(
    y_true: ArrayLike,
    probabilities: ArrayLike,
    cost_matrix: CostsLike,
    ax: Axes | None = None,
    label: str | None = None,
    unit: str | None = None,
    classes: Any = None,
) -> Axes:
    """Draws the average cost of deciding class 1 if `P(1) >= t` against `t`.

    The curve has a step at each probability. A star marks the lowest cost, a dashed line the Bayes
    threshold `C[0, 1] / (C[0, 1] + C[1, 0])`; a star far from it suggests that the probabilities
    need calibration. With costs of each example, the line shows the cost of the Bayes decision.

    Args:
        y_true: labels 0 and 1 of shape `(N,)`.
        probabilities: of class 1, shape `(N,)` or `(N, 1)`, or of both classes, `(N, 2)`.
        cost_matrix: `(2, 2)`, `C[true, decision]`; or for each example `(N, 2, 2)`, `AffineCosts`.
        ax, label, unit: as in `beta_curve`.
        classes: the two labels, as in `evaluation.decision_costs`. Defaults to `None`.

    Returns:
        The Axes.

    Example:

    >>> ax = cost_against_threshold([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.9], [[0, 1], [9, 0]])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['Bayes threshold 0.1', 'lowest: 0.25 at 0.3']
    """
    y_true, known = as_numbers(y_true, cost_matrix, classes)
    thresholds, costs = threshold_table(y_true, probabilities, known)
    height = with_unit("average cost", unit)
    axes, colour = axes_of_curves(ax)
    if len(known.shape) == 3:
        scores = probabilities_by_class(probabilities)[:, 1]
        rows = np.stack([1.0 - scores, scores], axis=1)
        paid = average_cost(y_true, expected_costs(rows, known).argmin(axis=1), known)
        words = f"Bayes decision: {number(paid, 3)}"
        axes.axhline(paid, color=colour, linestyle="--", linewidth=1.2, label=words)
    elif known.any():
        bayes = known[0, 1] / (known[0, 1] + known[1, 0])
        words = f"Bayes threshold {number(bayes, 3)}"
        # Curves of several models share one line.
        if words not in axes.get_legend_handles_labels()[1]:
            axes.axvline(bayes, color=GREY, linestyle="--", linewidth=1.2, label=words)
    ends = np.append(thresholds[:-1], _RIGHT_END)
    # The first cost applies to every threshold up to the first probability.
    axes.step(
        np.append(0.0, ends), np.append(costs[0], costs), where="pre", color=colour, label=label
    )
    best = int(np.argmin(costs))
    is_last = best == len(costs) - 1
    where = "above every probability" if is_last else f"at {number(ends[best], 3)}"
    mark_lowest(axes, ends[best], costs[best], colour, where)
    axes.set_xlim(0.0, _RIGHT_END)
    axes.set_ylim(bottom=0.0, auto=True)
    label_curves(axes, "threshold of P(class 1) from which class 1 is decided", height)
    return axes
