"""A cost matrix as a heatmap."""

from typing import Any

from matplotlib.axes import Axes

from csdl_keras.costs import check_cost_matrix
from csdl_keras.plots._axes import number
from csdl_keras.plots._heatmap import draw_heatmap, names_of


def cost_matrix_heatmap(
    cost_matrix: Any,
    class_names: Any = None,
    decision_names: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draws a cost matrix: a row for each true class, a column for each decision.

    Each cell has the number `C[true, decision]`; above 12 classes there is
    colour alone.

    Args:
        cost_matrix: shape `(K, D)`, `C[true, decision]`; `D > K` adds decisions
            that are no class.
        class_names: `K` names; `None` (default) takes the index of each class.
        decision_names: `D` names; `None` (default) takes the classes' names and
            the index of each decision that is no class.
        ax: the Axes to draw on; `None` (default) makes a new figure.

    Returns:
        The Axes.

    Raises:
        ValueError: if the matrix fails its check, or there is not one name for
            each row or column.

    Example:

    >>> ax = cost_matrix_heatmap([[0, 1], [9, 0]], class_names=["healthy", "ill"])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('decision', 'true class')
    """
    matrix = check_cost_matrix(cost_matrix, square=False)
    names = names_of(matrix.shape, class_names, decision_names)
    return draw_heatmap(ax, matrix, lambda cell: number(matrix[cell]), names, "cost")
