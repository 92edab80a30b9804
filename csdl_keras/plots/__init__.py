"""Plots of costs, on an Axes of Matplotlib; they need Matplotlib.

Every function draws on the Axes `ax`, or on that of a new figure, and returns
it: `ax.figure.savefig("costs.png")` writes a file. None imports pyplot or
changes a global setting. A curve that is drawn on an Axes that has some takes
the next colour.
"""

from csdl_keras._utils.optional import optional_module

# Ahead of the imports, so that the error names the command that installs Matplotlib.
optional_module("matplotlib", "compare")

from csdl_keras.plots.beta_curve import beta_curve  # noqa: E402
from csdl_keras.plots.cost_against import cost_against  # noqa: E402
from csdl_keras.plots.cost_against_threshold import cost_against_threshold  # noqa: E402
from csdl_keras.plots.cost_confusion import cost_confusion  # noqa: E402
from csdl_keras.plots.heatmap import cost_matrix_heatmap  # noqa: E402
from csdl_keras.plots.reliability_diagram import reliability_diagram  # noqa: E402
from csdl_keras.plots.risk_coverage import risk_coverage  # noqa: E402

__all__ = [
    "beta_curve",
    "cost_against",
    "cost_against_threshold",
    "cost_confusion",
    "cost_matrix_heatmap",
    "reliability_diagram",
    "risk_coverage",
]
