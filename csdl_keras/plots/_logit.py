"""Axes of probabilities that have room near 0 and 1."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, NullFormatter

from csdl_keras._utils.checks import check_choice

#: Probabilities nearer to 0 or 1 are drawn here on a logit axis, which has no place for 0 and 1.
SMALLEST = 1e-5


def choose_scale(axes: Axes, scale: str | None, probabilities: np.ndarray) -> str:
    """Returns the scale of an axis of probabilities, `"linear"` or `"logit"`.

    `None` is the scale of the curves that are there, or of the first one `"logit"` if more
    than half of the probabilities lie within a tenth of 0 or 1, which crowd a linear axis.
    """
    if scale is not None:
        return check_choice("scale", scale, ("linear", "logit"))
    if axes.get_lines():
        return axes.get_xscale()
    crowded = np.mean(np.minimum(probabilities, 1.0 - probabilities) < 0.1)
    return "logit" if crowded > 0.5 else "linear"


def inside(probabilities: np.ndarray) -> np.ndarray:
    """Returns probabilities that a logit axis can show."""
    return np.clip(probabilities, SMALLEST, 1.0 - SMALLEST)


def show(axis: Axis, probabilities: np.ndarray, first: bool) -> tuple[float, float]:
    """Gives a logit axis ticks in plain numbers, and limits around these probabilities.

    Limits that are there, unless this curve is the `first`, become wider only.

    Returns:
        The limits.
    """
    log_odds = np.log(inside(probabilities) / (1.0 - inside(probabilities)))
    lowest, highest = float(log_odds.min()), float(log_odds.max())
    margin = 0.3 + 0.03 * (highest - lowest)
    limits = np.array([lowest - margin, highest + margin])
    low, high = (1.0 / (1.0 + np.exp(-limits))).tolist()
    if not first:
        left, right = axis.get_view_interval()
        low, high = min(low, float(left)), max(high, float(right))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.12g}"))
    axis.set_minor_formatter(NullFormatter())
    return low, high
