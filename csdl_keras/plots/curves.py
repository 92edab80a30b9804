"""Plots of decision curves and cost curves."""

import numpy as np
from matplotlib.axes import Axes

from csdl_keras.evaluation.curves import ALL, CONSTANT, NONE, CostCurve, DecisionCurve
from csdl_keras.plots._axes import GREY, axes_of_curves, axes_or_new, label_curves


def decision_curve(curve: DecisionCurve, ax: Axes | None = None) -> Axes:
    """Draws the net benefit of models, and of deciding always or never, against the threshold.

    Args:
        curve: a result of `evaluation.decision_curve`. Bands are its intervals.
        ax: as in `beta_curve`.

    Returns:
        The Axes.

    Example:

    >>> from csdl_keras import evaluation
    >>> scores = {"model": [0.1, 0.3, 0.6, 0.9]}
    >>> ax = decision_curve(evaluation.decision_curve([0, 1, 0, 1], scores))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['treat all', 'treat none', 'model']
    """
    constants = {ALL: curve.treat_all, NONE: curve.treat_none}
    axes = _draw(ax, curve.thresholds, curve.net_benefit, curve.low, curve.high, constants)
    # Needless decisions near a threshold of 1 cost so much that the rest would look flat.
    top = axes.dataLim.y1
    axes.set_ylim(-0.15 * top, 1.05 * top)
    label_curves(axes, "threshold of the probability", "net benefit, right decisions per example")
    return axes


def cost_curve(curve: CostCurve, ax: Axes | None = None) -> Axes:
    """Draws the normalised cost of models, and of the best constant decision.

    Args:
        curve: a result of `evaluation.cost_curve`. Bands are its intervals.
        ax: as in `beta_curve`.

    Returns:
        The Axes.

    Example:

    >>> from csdl_keras import evaluation
    >>> ax = cost_curve(evaluation.cost_curve([0, 1, 0, 1], {"model": [0, 1, 1, 1]}))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['best constant decision', 'model']
    """
    constants = {CONSTANT: curve.trivial}
    axes = _draw(ax, curve.values, curve.costs, curve.low, curve.high, constants)
    axes.set_ylim(bottom=0.0, auto=True)
    label_curves(axes, curve.label, "normalised expected cost")
    return axes


def _draw(
    ax: Axes | None, x: np.ndarray, heights: dict, low: dict, high: dict, constants: dict
) -> Axes:
    """Draws dashed lines, once for all curves on the same Axes, and models' lines with bands."""
    axes = axes_or_new(ax)
    for number, (name, height) in enumerate(constants.items()):
        if name not in axes.get_legend_handles_labels()[1]:
            axes.plot(x, height, ("--", ":")[number], color=GREY, linewidth=1.2, label=name)
    for name, height in heights.items():
        _, colour = axes_of_curves(axes)
        axes.fill_between(x, low[name], high[name], color=colour, alpha=0.2, linewidth=0)
        axes.plot(x, height, color=colour, label=name)
    return axes
