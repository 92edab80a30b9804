"""The confusion matrix, coloured by what its cells cost."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from csdl_keras.plots._axes import number
from csdl_keras.plots._confusion import confusion_table
from csdl_keras.plots._heatmap import draw_heatmap, names_of


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
    there is colour alone. The title has the average cost and the error rate,
    for which a decision that is no class is an error.

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
    errors = 1.0 - np.trace(counts) / counts.sum()
    axes.set_title(f"average cost {number(costs.sum())}, error rate {100 * errors:.3g}%")
    return axes
