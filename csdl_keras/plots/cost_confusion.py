"""The table behind the cost-weighted confusion matrix."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from csdl_keras._utils.arrays import check_decisions
from csdl_keras.costs import check_cost_matrix, check_labels
from csdl_keras.evaluation.scores import error_rate
from csdl_keras.plots._axes import number
from csdl_keras.plots.heatmap import draw_heatmap, names_of


def confusion_table(y_true: Any, decisions: Any, cost_matrix: Any) -> tuple[np.ndarray, np.ndarray]:
    """Counts pairs of true class and decision, and what each pair costs for an example.

    Args:
        y_true: integer labels of shape `(N,)`.
        decisions: integers of shape `(N,)`, below `D`.
        cost_matrix: shape `(K, D)`, `C[true, decision]`.

    Returns:
        The counts, int64 of shape `(K, D)`, and `counts * C / N`, float64 of
        shape `(K, D)`, whose sum is the average cost.

    Raises:
        ValueError: if an argument fails its check.

    Example:

    >>> counts, costs = confusion_table([0, 0, 1, 1], [0, 1, 0, 0], [[0, 1], [9, 0]])
    >>> counts
    array([[1, 1],
           [2, 0]])
    >>> costs
    array([[0.  , 0.25],
           [4.5 , 0.  ]])
    """
    matrix = check_cost_matrix(cost_matrix, square=False)
    labels = check_labels(y_true, matrix.shape[0])
    chosen = check_decisions(decisions, len(labels), matrix.shape[1])
    cells = labels * matrix.shape[1] + chosen
    counts = np.bincount(cells, minlength=matrix.size).reshape(matrix.shape)
    return counts, counts * matrix / len(labels)


def cost_confusion(
    y_true: Any,
    decisions: Any,
    cost_matrix: Any,
    class_names: Any = None,
    decision_names: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draws which mistakes make up the average cost.

    Each cell has the number of its examples, `n[true, decision]`, and below it
    and as its colour `n[true, decision] * C[true, decision] / N`, where `N`
    counts all examples: these add up to the average cost. Above 12 classes
    there is colour alone. The title has the average cost, the error rate of
    the decisions for a class (see `evaluation.error_rate`) and, if there are others, their share.

    Args:
        y_true: integer labels of shape `(N,)`.
        decisions: integers of shape `(N,)`, as `csdl_keras.decide` returns.
        cost_matrix: shape `(K, D)`, `C[true, decision]`.
        class_names: `K` names; `None` (default) takes the index of each class.
        decision_names: `D` names; `None` (default) takes the classes' names and
            the index of each decision that is no class.
        ax: the Axes to draw on; `None` (default) makes a new figure.

    Returns:
        The Axes.

    Raises:
        ValueError: if labels, decisions or the matrix fail their checks, or
            there is not one name for each row or column.

    Example:

    >>> ax = cost_confusion([0, 0, 1, 1], [0, 1, 0, 1], [[0, 1], [9, 0]])
    >>> ax.get_title()
    'average cost 2.5, error rate 50%'
    """
    counts, costs = confusion_table(y_true, decisions, cost_matrix)
    names = names_of(counts.shape, class_names, decision_names)

    def text(cell: tuple[int, int]) -> str:
        count = f"{counts[cell]:.0f}"
        return f"{count}\n{number(costs[cell])}" if costs[cell] > 0 else count

    axes = draw_heatmap(ax, costs, text, names, "cost per example of the whole set")
    parts = [f"average cost {number(costs.sum())}"]
    errors, abstained = error_rate(y_true, decisions, cost_matrix), counts[:, len(counts) :].sum()
    if not np.isnan(errors):
        parts.append(f"error rate {100 * errors:.3g}%")
    if abstained:
        parts.append(f"{100 * abstained / counts.sum():.3g}% for no class")
    axes.set_title(", ".join(parts))
    return axes
