"""Heatmaps of a cost matrix, and of the confusion matrix by the cost of each cell."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs import check_cost_matrix
from csdl_keras.costs.known import CostsLike
from csdl_keras.costs.named_matrix import names_of_frame
from csdl_keras.evaluation._report_text import number, with_unit
from csdl_keras.evaluation.as_numbers import as_numbers, names_of
from csdl_keras.evaluation.scores import chosen_costs, error_rate, example_costs
from csdl_keras.plots._axes import axes_or_new


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
    top = vmax or highest or 1.0
    # With 8 or more decisions, a new figure is larger so that texts stay readable.
    axes = axes_or_new(ax, float(np.clip(decisions / 7.0, 1.0, 1.6)))
    image = axes.imshow(values, cmap="Blues", vmin=0.0, vmax=top)
    beyond = "max" if highest > top else "neither"
    axes.figure.colorbar(image, ax=axes, label=label, extend=beyond)
    rows, columns = names
    slanted: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    fits = decisions * max(map(len, columns)) < 50  # Longer names would overlap.
    axes.set_yticks(range(classes), rows)
    axes.set_xticks(range(decisions), columns, **({} if fits else slanted))
    axes.set(xlabel="decision", ylabel="true class")
    # Grey lines between cells make white cells visible.
    axes.set_xticks(np.arange(decisions - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(classes - 1) + 0.5, minor=True)
    axes.grid(which="minor", color="#cccccc", linewidth=0.5)
    axes.tick_params(which="minor", length=0)
    if classes <= 12:  # With more classes, cells are too small for text.
        for row, column in np.ndindex(classes, decisions):
            # Above this share of the highest value, white text has more contrast than black.
            colour = "white" if values[row, column] > 0.69 * top else "black"
            style = {"color": colour, "fontsize": min(10.0, 84.0 / max(values.shape))}
            axes.text(column, row, text((row, column)), ha="center", va="center", **style)
    return axes


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
        class_names, decision_names: `K` and `D` names, by default a data frame's, or indices.
        ax: the Axes to draw on; `None` (default) makes a new figure.
        unit: unit of costs, such as `"€"`; `None` (default) writes none.
        vmax: cost of the darkest colour, to compare matrices; `None` (default) is the highest cost.

    Returns:
        The Axes.

    Example:

    >>> ax = cost_matrix_heatmap([[0, 1], [9, 0]], class_names=["healthy", "ill"])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('decision', 'true class')
    """
    rows, columns = names_of_frame(cost_matrix)
    matrix = check_cost_matrix(cost_matrix, square=False, classes=rows)
    if rows is not None and columns is not None and decision_names is None:
        decision_names = [*rows, *(name for name in columns if name not in rows)]
    names = names_of(matrix.shape, class_names, decision_names, rows)
    return draw_heatmap(
        ax, matrix, lambda cell: number(matrix[cell], 3), names, with_unit("cost", unit), vmax
    )


def confusion_table(
    y_true: ArrayLike, decisions: ArrayLike, cost_matrix: CostsLike, classes: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Returns counts of pairs of true class and decision, and their shares of the average cost."""
    labels, known, chosen = as_numbers(y_true, cost_matrix, classes, decisions=decisions)
    paid, shape = chosen_costs(example_costs(labels, known), chosen), known.shape[-2:]
    cells = labels * shape[1] + chosen
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

    Each cell shows the number of its examples and, below it and by its colour, their share of the
    average cost; with more than 12 classes, cells have colours only. The title shows the average
    cost, the error rate and the share of decisions for no class, if there are any.

    Args:
        y_true, decisions, classes: as in `evaluation.decision_costs`; names default to the labels.
        cost_matrix: `(K, D)`, `C[true, decision]`; or for each example `(N, K, D)`, `AffineCosts`.
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
    names = names_of(counts.shape, class_names, decision_names, classes)

    def text(cell: tuple[int, int]) -> str:
        count = f"{counts[cell]:.0f}"
        return f"{count}\n{number(costs[cell], 3)}" if costs[cell] > 0 else count

    bar = with_unit("cost per example of the whole set", unit)
    axes = draw_heatmap(ax, costs, text, names, bar, vmax)
    parts = [f"average cost {number(costs.sum(), 3)}{f' {unit}' if unit else ''}"]
    errors = error_rate(y_true, decisions, cost_matrix, classes)
    abstained = counts[:, len(counts) :].sum()
    if not np.isnan(errors):
        parts.append(f"error rate {100 * errors:.3g}%")
    if abstained:
        parts.append(f"{100 * abstained / counts.sum():.3g}% for no class")
    lines = [", ".join(parts)] if label is None else [label, ", ".join(parts)]
    axes.set_title("\n".join(lines), fontsize="medium")
    return axes
