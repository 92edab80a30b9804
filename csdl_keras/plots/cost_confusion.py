"""Plot of the confusion matrix, coloured by the cost of each cell."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from csdl_keras._utils.arrays import check_label, names_of
from csdl_keras._utils.labels import check_decisions, class_labels
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs import check_labels
from csdl_keras.costs.known import CostsLike
from csdl_keras.evaluation.as_numbers import as_numbers
from csdl_keras.evaluation.scores import decision_costs, error_rate
from csdl_keras.plots._axes import number, with_unit
from csdl_keras.plots.heatmap import draw_heatmap, fit_title


def confusion_table(
    y_true: ArrayLike, decisions: ArrayLike, cost_matrix: CostsLike, classes: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Returns counts of pairs of true class and decision, and their parts of the average cost."""
    y_true, known, decisions = as_numbers(y_true, cost_matrix, classes, decisions)
    shape = known.shape[-2:]
    labels = check_labels(y_true, shape[0])
    paid = decision_costs(labels, decisions, known)
    cells = labels * shape[1] + check_decisions(decisions, len(labels), shape[1])
    size = shape[0] * shape[1]
    counts = np.bincount(cells, minlength=size).reshape(shape)
    return counts, np.bincount(cells, paid, size).reshape(shape) / len(labels)


def cost_confusion(
    y_true: ArrayLike,
    decisions: ArrayLike,
    cost_matrix: CostsLike,
    class_names: Iterable[object] | None = None,
    decision_names: Iterable[object] | None = None,
    ax: Axes | None = None,
    unit: str | None = None,
    label: str | None = None,
    vmax: float | None = None,
    classes: Any = None,
) -> Axes:
    """Draws how much each kind of mistake contributes to the average cost.

    Each cell shows the number of its examples, and below it and as its colour their part of the
    average cost; with more than 12 classes, cells have colours only. The title shows the average
    cost, the error rate and the share of decisions for no class, if there are any.

    Args:
        y_true, decisions, classes: as in `evaluation.decision_costs`; the labels are also the
            default of names.
        cost_matrix: `(K, D)`, `C[true, decision]`, or costs of each example, `(N, K, D)` or
            `csdl_keras.costs.AffineCosts`.
        class_names, decision_names, ax, unit, vmax: as in `cost_matrix_heatmap`.
        label: name of the decisions, first line of the title. Defaults to `None`, no name.

    Returns:
        The Axes.

    Example:

    >>> ax = cost_confusion([0, 0, 1, 1], [0, 1, 0, 1], [[0, 1], [9, 0]])
    >>> ax.get_title()
    'average cost 2.5, error rate 50%'
    """
    counts, costs = confusion_table(y_true, decisions, cost_matrix, classes)
    known = class_labels(classes)
    if known is not None and class_names is None:
        class_names = known[: len(counts)]
    names = names_of(counts.shape, class_names, decision_names)
    label = check_label(label)

    def text(cell: tuple[int, int]) -> str:
        count = f"{counts[cell]:.0f}"
        return f"{count}\n{number(costs[cell])}" if costs[cell] > 0 else count

    bar = with_unit("cost per example of the whole set", unit)
    axes = draw_heatmap(ax, costs, text, names, bar, vmax)
    parts = [f"average cost {number(costs.sum())}{f' {unit}' if unit else ''}"]
    errors = error_rate(y_true, decisions, cost_matrix, classes)
    abstained = counts[:, len(counts) :].sum()
    if not np.isnan(errors):
        parts.append(f"error rate {100 * errors:.3g}%")
    if abstained:
        parts.append(f"{100 * abstained / counts.sum():.3g}% for no class")
    lines = [", ".join(parts)] if label is None else [label, ", ".join(parts)]
    fit_title(axes, lines, counts.shape)
    return axes
