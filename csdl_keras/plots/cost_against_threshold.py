"""Plot of the average cost against the threshold of a binary decision."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from csdl_keras._utils.arrays import check_label, check_rows
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs import AffineCosts, check_cost_matrix, check_labels, cost_vectors
from csdl_keras.costs.known import CostsLike, KnownCosts, check_known_costs, expected_costs
from csdl_keras.evaluation.as_numbers import as_numbers
from csdl_keras.evaluation.calibration_error import probabilities_by_class
from csdl_keras.evaluation.scores import average_cost
from csdl_keras.plots import _logit
from csdl_keras.plots._axes import (
    GREY,
    axes_of_curves,
    label_curves,
    mark_lowest,
    next_colour,
    number,
    with_unit,
)

# Where the axis ends: above 1, since thresholds above 1 never decide class 1.
_RIGHT_END = 1.03


def threshold_table(
    y_true: ArrayLike, probabilities: ArrayLike, cost_matrix: CostsLike, classes: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Computes the average cost of deciding 1 if `P(1) >= t`, for all distinct decisions.

    Returns thresholds and costs, each `(M + 1,)`: the `M` distinct probabilities, ascending,
    followed by infinity, which never decides 1. Each cost applies to thresholds above the previous
    one, up to and including its own.
    """
    y_true, known = as_numbers(y_true, cost_matrix, classes)
    costs = _of_two_classes(known)
    labels = check_labels(y_true, 2)
    vectors = cost_vectors(costs, labels)
    scores = _of_class_one(probabilities)
    check_rows("probabilities", scores, len(labels))
    thresholds, position = np.unique(scores, return_inverse=True)
    # Row k holds what deciding k costs the examples of each probability.
    sums = [np.bincount(position, vectors[:, k], len(thresholds)) for k in (0, 1)]
    below = np.append(0.0, np.cumsum(sums[0]))
    above = np.append(np.cumsum(sums[1][::-1])[::-1], 0.0)
    return np.append(thresholds, np.inf), (below + above) / len(labels)


def _of_two_classes(cost_matrix: KnownCosts) -> KnownCosts:
    """Returns a cost matrix `(2, 2)`, or costs of each example of two decisions."""
    if not isinstance(cost_matrix, AffineCosts) and cost_matrix.ndim == 2:
        return check_cost_matrix(cost_matrix, num_classes=2)
    costs = check_known_costs(cost_matrix, num_classes=2)
    if costs.shape[2] != 2:
        raise ValueError(
            "Expected costs of two decisions, since only those have a threshold; received shape "
            f"{costs.shape}."
        )
    return costs


def _of_class_one(probabilities: ArrayLike) -> np.ndarray:
    """Returns the probabilities of class 1, `(N,)`."""
    shape = "(N,), (N, 1) or (N, 2)"
    rows = probabilities_by_class(probabilities, shape)
    if rows.shape[1] > 2:
        raise ValueError(
            f"Expected `probabilities` of shape {shape}, since only problems of two classes have "
            f"a threshold; received shape {rows.shape}."
        )
    return rows[:, 1]


def cost_against_threshold(
    y_true: ArrayLike,
    probabilities: ArrayLike,
    cost_matrix: CostsLike,
    ax: Axes | None = None,
    label: str | None = None,
    unit: str | None = None,
    scale: str | None = None,
    classes: Any = None,
) -> Axes:
    """Draws the average cost of deciding class 1 if `P(1) >= t` against `t`.

    The curve is exact: it has a step at each probability. A star marks the lowest cost. A dashed
    line shows the Bayes threshold `C[0, 1] / (C[0, 1] + C[1, 0])`; a star far from it suggests that
    the probabilities need calibration. With costs of each example, each has a threshold of its own:
    the dashed line then shows what the Bayes decision costs.

    Args:
        y_true: labels 0 and 1 of shape `(N,)`.
        probabilities: of class 1, shape `(N,)` or `(N, 1)`, or of both classes, `(N, 2)`.
        cost_matrix: `(2, 2)`, `C[true, decision]`, or costs of each example, `(N, 2, 2)` or
            `csdl_keras.costs.AffineCosts`.
        ax, label, unit: as in `beta_curve`.
        scale: of the horizontal axis, `"linear"` or `"logit"`, which has room near 0 and 1;
            `None` (default) chooses by the probabilities, or by the curves on `ax`.
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
    label, words = check_label(label), with_unit("average cost", unit)
    axes = axes_of_curves(ax)
    first, scores = not axes.get_lines(), _of_class_one(probabilities)
    scale = _logit.choose_scale(axes, scale, scores)
    axes.set_xscale(scale)
    colour = next_colour(axes)
    if isinstance(known, AffineCosts) or known.ndim == 3:
        bayes = scores
        _draw_bayes_cost(axes, y_true, scores, known, colour)
    else:
        bayes = _draw_bayes_threshold(axes, known)
    if scale == "logit":
        left, right = _logit.show(axes.xaxis, np.append(scores, bayes), first)
        # Also curves of wider limits, drawn later, leave no gap at the ends.
        ends = np.append(_logit.inside(thresholds[:-1]), 1.0 - 1e-9)
        start = 1e-9
    else:
        left, right, start = 0.0, _RIGHT_END, 0.0
        ends = np.append(thresholds[:-1], _RIGHT_END)
    # The first cost applies to every threshold up to the first probability.
    axes.step(
        np.append(start, ends), np.append(costs[0], costs), where="pre", color=colour, label=label
    )
    best = int(np.argmin(costs))
    is_last = best == len(costs) - 1
    where = "above every probability" if is_last else f"at {number(ends[best])}"
    mark_lowest(axes, right if is_last else ends[best], costs[best], colour, where)
    axes.set_xlim(left, right)
    axes.set_ylim(bottom=0.0, auto=True)
    label_curves(axes, "threshold of P(class 1) from which class 1 is decided", words)
    return axes


def _draw_bayes_threshold(axes: Axes, matrix: np.ndarray) -> np.ndarray:
    """Draws and returns the threshold of the Bayes decision, or none if all costs are 0."""
    total = matrix[0, 1] + matrix[1, 0]
    if total == 0:
        return np.array([])
    bayes = matrix[0, 1] / total
    words = f"Bayes threshold {number(bayes)}"
    # Curves of several models share one line.
    if words not in axes.get_legend_handles_labels()[1]:
        axes.axvline(bayes, color=GREY, linestyle="--", linewidth=1.2, label=words)
    return np.array([bayes])


def _draw_bayes_cost(
    axes: Axes, y_true: ArrayLike, scores: np.ndarray, costs: KnownCosts, colour: str
) -> None:
    """Draws the average cost of decisions at the lowest expected cost of each example."""
    decisions = expected_costs(np.stack([1.0 - scores, scores], axis=1), costs).argmin(axis=1)
    paid = average_cost(y_true, decisions, costs)
    words = f"Bayes decision: {number(paid)}"
    axes.axhline(paid, color=colour, linestyle="--", linewidth=1.2, label=words)
