"""Heatmaps of cost matrices and other tables of costs."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from csdl_keras._utils.arrays import names_of
from csdl_keras._utils.checks import check_number
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs import check_cost_matrix
from csdl_keras.costs.named_matrix import names_of_frame
from csdl_keras.plots._axes import axes_or_new, number, with_unit

# With more classes than this, cells are too small for text.
_MOST_CLASSES_WITH_TEXT = 12
# From this part of the highest value on, white text has more contrast than black.
_DARK = 0.69


def draw_heatmap(
    ax: Axes | None,
    values: np.ndarray,
    text: Callable[[tuple[int, int]], str],
    names: tuple[list[str], list[str]],
    label: str,
    vmax: float | None,
) -> Axes:
    """Draws values `(K, D)` of at least 0, with the text of each cell if cells are large enough."""
    classes, decisions = values.shape
    highest = float(values.max())
    if vmax is not None:
        vmax = check_number("vmax", vmax, 0.0, exclude_low=True)
    top = vmax or highest or 1.0
    # With 8 or more decisions, a new figure is larger, so that texts stay readable.
    axes = axes_or_new(ax, float(np.clip(decisions / 7.0, 1.0, 1.6)))
    image = axes.imshow(values, cmap="Blues", vmin=0.0, vmax=top)
    # Measured before the colour bar takes a part of the Axes.
    cell = _cell_points(axes, classes, decisions)
    beyond = "max" if highest > top else "neither"
    axes.figure.colorbar(image, ax=axes, label=label, extend=beyond)
    rows, columns = names
    size = float(np.clip(0.9 * cell, 5.0, 10.0))
    axes.set_yticks(range(classes), rows, fontsize=size)
    longest = max(len(name) for name in columns)
    slanted: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    fits = longest * 0.62 * size < cell
    axes.set_xticks(range(decisions), columns, fontsize=size, **({} if fits else slanted))
    axes.set(xlabel="decision", ylabel="true class")
    # Grey lines between cells make white cells visible.
    axes.set_xticks(np.arange(decisions - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(classes - 1) + 0.5, minor=True)
    axes.grid(which="minor", color="#cccccc", linewidth=0.5)
    axes.tick_params(which="minor", length=0)
    if classes <= _MOST_CLASSES_WITH_TEXT:
        texts = {(k, d): text((k, d)) for k in range(classes) for d in range(decisions)}
        lines = [it.split("\n") for it in texts.values()]
        widest, deepest = max(max(map(len, it)) for it in lines), max(map(len, lines))
        size = min(11.0, 0.9 * cell / (0.62 * widest), 0.9 * cell / (1.25 * deepest))
        for (row, column), words in texts.items():
            colour = "white" if values[row, column] > _DARK * top else "black"
            axes.text(column, row, words, ha="center", va="center", fontsize=size, color=colour)
    return axes


def fit_title(axes: Axes, lines: list[str], shape: tuple[int, int]) -> None:
    """Writes a title in a size that does not reach beyond the cells of a heatmap."""
    # The colour bar has taken its part of the Axes by now, but the layout is not final.
    width = _cell_points(axes, *shape) * shape[1]
    size = float(np.clip(width / (0.55 * max(map(len, lines))), 5.0, 12.0))
    axes.set_title("\n".join(lines), fontsize=size)


def _cell_points(axes: Axes, classes: int, decisions: int) -> float:
    """Estimates the side of a cell in points; the layout is final only once it is drawn."""
    # The colour bar takes a tenth of the width.
    side = min(0.85 * axes.bbox.width / decisions, 0.95 * axes.bbox.height / classes)
    return side * 72.0 / axes.figure.dpi


def cost_matrix_heatmap(
    cost_matrix: ArrayLike,
    class_names: Iterable[object] | None = None,
    decision_names: Iterable[object] | None = None,
    ax: Axes | None = None,
    unit: str | None = None,
    vmax: float | None = None,
) -> Axes:
    """Draws a cost matrix: a row for each true class, a column for each decision.

    Each cell shows `C[true, decision]`; with more than 12 classes, cells have colours only.

    Args:
        cost_matrix: shape `(K, D)`, `C[true, decision]`.
        class_names, decision_names: `K` and `D` names; `None` (default) writes those of a data
            frame, or the index of each.
        ax: the Axes to draw on; `None` (default) makes a new figure.
        unit: unit of costs, such as `"€"`; `None` (default) writes none.
        vmax: cost of the darkest colour, above 0, so that matrices beside each other have
            one scale; `None` (default) is the highest cost.

    Returns:
        The Axes.

    Example:

    >>> ax = cost_matrix_heatmap([[0, 1], [9, 0]], class_names=["healthy", "ill"])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('decision', 'true class')
    """
    rows, columns = names_of_frame(cost_matrix)
    matrix = check_cost_matrix(cost_matrix, square=False, classes=rows)
    class_names = rows if class_names is None else class_names
    if rows is not None and columns is not None and decision_names is None:
        decision_names = [*rows, *(name for name in columns if name not in rows)]
    names = names_of(matrix.shape, class_names, decision_names)
    return draw_heatmap(
        ax, matrix, lambda cell: number(matrix[cell]), names, with_unit("cost", unit), vmax
    )
