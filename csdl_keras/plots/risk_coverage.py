"""Plot of the cost of selective decisions against the share of examples decided."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.known import CostsLike
from csdl_keras.evaluation._report_text import number, with_unit
from csdl_keras.evaluation.risk_coverage import risk_coverage_curve
from csdl_keras.plots._axes import axes_of_curves, label_curves


def risk_coverage(
    y_true: ArrayLike,
    expected_costs: ArrayLike,
    cost_matrix: CostsLike | None = None,
    ax: Axes | None = None,
    label: str | None = None,
    unit: str | None = None,
    classes: Any = None,
) -> Axes:
    """Draws the average cost if the model makes only the decisions it expects to be cheapest.

    Examples are covered in ascending order of the lowest of their expected costs. The curve shows
    the average true cost of the covered examples against their share, the coverage; it rises if
    expected costs predict true ones. The horizontal axis begins where costs begin. The legend shows
    the area under the whole curve; the lower, the better.

    Args:
        y_true, expected_costs, cost_matrix, classes: as in `evaluation.risk_coverage_curve`.
        ax, label, unit: as in `beta_curve`.

    Returns:
        The Axes.

    References:
        - [Geifman, El-Yaniv: Selective classification for deep neural networks,
          NeurIPS 2017](https://arxiv.org/abs/1705.08500)

    Example:

    >>> expected = [[0.5, 0.9], [0.8, 0.1], [0.3, 0.6], [0.7, 1.2]]
    >>> ax = risk_coverage([0, 1, 0, 1], expected, [[0, 1], [8, 0]], label="CSDNN")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['CSDNN: area 0.5']
    """
    coverages, risks = risk_coverage_curve(y_true, expected_costs, cost_matrix, classes)
    words = with_unit("average cost of those decided", unit)
    axes, colour = axes_of_curves(ax)
    first = not axes.get_lines()
    area = f"area {number(float(risks.mean()), 3)}"
    # With steps from the left of each coverage, the drawn area is the area in the legend.
    label = area if label is None else f"{label}: {area}"
    x, y = np.append(0.0, coverages), np.append(risks[0], risks)
    axes.step(x, y, where="pre", color=colour, label=label)
    # The axis would be mostly empty if only the last decisions cost something.
    free = x[np.argmax(risks > 0.01 * risks.max())]
    begin = max(0.0, 1.0 - 1.1 * (1.0 - float(free)))
    axes.set_xlim(begin if first else min(begin, axes.get_xlim()[0]), 1.0)
    axes.set_ylim(bottom=0.0, auto=True)
    label_curves(axes, "coverage: share of examples decided, cheapest expected cost first", words)
    return axes
