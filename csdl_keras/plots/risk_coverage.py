"""The cost of selective decisions against the share of examples that are decided."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from csdl_keras._utils.arrays import check_label
from csdl_keras.evaluation.risk_coverage import risk_coverage_curve
from csdl_keras.plots._axes import axes_of_curves, next_colour, number


def risk_coverage(
    y_true: Any,
    expected_costs: Any,
    cost_matrix: Any,
    ax: Axes | None = None,
    label: str | None = None,
) -> Axes:
    """Draws the average cost if only the cheapest decisions are made by the model.

    Each example's decision is the argmin of its expected costs. Examples are
    kept in the order of that minimum, lowest first; among equals in the order
    given. The curve is the average true cost of the kept ones against the share
    kept, the coverage. A model that knows what its decisions cost has a curve
    that rises. The legend has the area under it, the mean over coverages
    `1 / N, ..., 1`: the lower, the better.

    Args:
        y_true: integer labels of shape `(N,)`.
        expected_costs: of each decision, shape `(N, D)`: the outputs of a model
            that estimates costs, of any sign.
        cost_matrix: shape `(K, D)`, `C[true, decision]`.
        ax: the Axes to draw on; `None` (default) makes a new figure.
        label: the curve's name in the legend. Defaults to `None`, no name.

    Returns:
        The Axes.

    Raises:
        ValueError: if labels, expected costs or the matrix fail their checks.

    References:
        - [Geifman, El-Yaniv: Selective classification for deep neural networks,
          NeurIPS 2017](https://arxiv.org/abs/1705.08500)

    Example:

    >>> expected = [[0.5, 0.9], [0.8, 0.1], [0.3, 0.6], [0.7, 1.2]]
    >>> ax = risk_coverage([0, 1, 0, 1], expected, [[0, 1], [8, 0]], label="CSDNN")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['CSDNN: area 0.5']
    """
    coverages, risks = risk_coverage_curve(y_true, expected_costs, cost_matrix)
    label = check_label(label)
    axes = axes_of_curves(ax)
    area = f"area {number(float(risks.mean()))}"
    # A step from the left of each coverage, so that the area drawn is the area named.
    axes.step(
        np.append(0.0, coverages),
        np.append(risks[0], risks),
        where="pre",
        color=next_colour(axes),
        label=area if label is None else f"{label}: {area}",
    )
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("coverage: share of examples decided, cheapest expected cost first")
    axes.set_ylabel("average cost of those decided")
    axes.legend(frameon=False)
    return axes
