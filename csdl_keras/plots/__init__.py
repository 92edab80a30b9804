"""Plots of costs on an Axes of Matplotlib.

Every function draws on the Axes `ax`, or on that of a new figure, and returns it:
`ax.figure.savefig("costs.png")` writes a file. Each curve on the same Axes has its own colour.
"""

from csdl_keras_cli.optional import optional_module

# This comes before the imports, so that the error shows how to install Matplotlib.
optional_module("matplotlib", "compare")

from csdl_keras.plots.beta_curve import beta_curve
from csdl_keras.plots.cost_against import cost_against
from csdl_keras.plots.cost_against_threshold import cost_against_threshold
from csdl_keras.plots.curves import cost_curve, decision_curve
from csdl_keras.plots.heatmap import cost_confusion, cost_matrix_heatmap
from csdl_keras.plots.reliability_diagram import reliability_diagram
from csdl_keras.plots.risk_coverage import risk_coverage

__all__ = [
    "beta_curve",
    "cost_against",
    "cost_against_threshold",
    "cost_confusion",
    "cost_curve",
    "cost_matrix_heatmap",
    "decision_curve",
    "reliability_diagram",
    "risk_coverage",
]
