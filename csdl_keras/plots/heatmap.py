"""A table of classes and decisions as a coloured grid."""

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Normalize

from csdl_keras._utils.arrays import check_names
from csdl_keras.costs import check_cost_matrix
from csdl_keras.plots._axes import axes_or_new, number

# Cells of more classes than this are too small for text.
MOST_CLASSES_WITH_TEXT = 12


# White at 0 and dark at the highest value, in any kind of colour blindness and in print.
_COLOURS = colormaps["Blues"]


# The relative luminance between black and white of equal contrast (WCAG 2).
_MIDDLE_LUMINANCE = 0.179


def names_of(
    shape: tuple[int, ...], class_names: Any, decision_names: Any
) -> tuple[list[str], list[str]]:
    """Names of the rows and columns of a cost matrix of shape `(K, D)`.

    The default for classes is their index, for decisions the name of the class
    that they decide, or their index if they are no class.
    """
    classes, decisions = shape
    rows = range(classes) if class_names is None else class_names
    rows = check_names("class_names", rows, classes)
    if decision_names is None:
        decision_names = rows + [str(k) for k in range(classes, decisions)]
    return rows, check_names("decision_names", decision_names, decisions)


def draw_heatmap(
    ax: Any,
    values: np.ndarray,
    text: Callable[[tuple[int, int]], str],
    names: tuple[list[str], list[str]],
    label: str,
) -> Axes:
    """Draws values of at least 0, shape `(K, D)`, with a colour bar and a text in each cell.

    `text` is called for each cell, a pair of row and column, unless cells are too small.
    """
    classes, decisions = values.shape
    # From 8 decisions on, a new figure grows so that texts stay readable.
    axes = axes_or_new(ax, float(np.clip(decisions / 7.0, 1.0, 1.6)))
    highest = values.max()
    scale = Normalize(0.0, highest if highest > 0 else 1.0)
    image = axes.imshow(values, cmap=_COLOURS, norm=scale)
    # Ahead of the colour bar, which takes its place from the Axes.
    cell = _cell_points(axes, classes, decisions)
    axes.figure.colorbar(image, ax=axes, label=label)
    rows, columns = names
    size = float(np.clip(0.9 * cell, 5.0, 10.0))
    axes.set_yticks(range(classes), rows, fontsize=size)
    longest = max(len(name) for name in columns)
    slanted: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    fits = longest * 0.62 * size < cell
    axes.set_xticks(range(decisions), columns, fontsize=size, **({} if fits else slanted))
    axes.set_xlabel("decision")
    axes.set_ylabel("true class")
    # Grey lines between cells, so that white cells are seen to be cells.
    axes.set_xticks(np.arange(decisions - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(classes - 1) + 0.5, minor=True)
    axes.grid(which="minor", color="#cccccc", linewidth=0.5)
    axes.tick_params(which="minor", length=0)
    if classes <= MOST_CLASSES_WITH_TEXT:
        texts = [[text((k, d)) for d in range(decisions)] for k in range(classes)]
        _write_texts(axes, texts, _COLOURS(scale(values))[..., :3], cell)
    return axes


def _cell_points(axes: Axes, classes: int, decisions: int) -> float:
    """The side of a cell in points, about: layout is known only when the figure is drawn."""
    points = 72.0 / axes.figure.dpi
    # A tenth of the width is the colour bar's.
    return min(
        0.85 * axes.bbox.width * points / decisions, 0.95 * axes.bbox.height * points / classes
    )


def _write_texts(axes: Axes, texts: list[list[str]], colours: np.ndarray, cell: float) -> None:
    lines = [line for row in texts for text in row for line in text.split("\n")]
    deepest = max(text.count("\n") + 1 for row in texts for text in row)
    size = min(11.0, 0.9 * cell / (0.62 * max(map(len, lines))), 0.9 * cell / (1.25 * deepest))
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    for row, line in enumerate(texts):
        for column, text in enumerate(line):
            dark = luminance[row, column] < _MIDDLE_LUMINANCE
            axes.text(
                column,
                row,
                text,
                ha="center",
                va="center",
                fontsize=size,
                color="white" if dark else "black",
            )


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
