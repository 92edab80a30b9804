"""Plot of observed frequencies against a classifier's predicted probabilities."""

from typing import Any

from matplotlib.axes import Axes

from csdl_keras._utils.types import ArrayLike
from csdl_keras.evaluation._report_text import number
from csdl_keras.evaluation.calibration_error import reliability
from csdl_keras.plots._axes import GREY, axes_of_curves, label_curves


def reliability_diagram(
    y_true: ArrayLike,
    probabilities: ArrayLike,
    num_bins: int = 10,
    class_id: int | None = None,
    ax: Axes | None = None,
    label: str | None = None,
    classes: Any = None,
) -> Axes:
    """Draws the share of predictions that come true against their probability.

    Calibrated probabilities lie on the diagonal; a curve below it shows an overconfident
    classifier. Each point is a bin of equal width, with Wilson's 95 % interval of the share that
    came true. The legend shows `evaluation.calibration_error` of these bins.

    Args:
        y_true, probabilities, num_bins, class_id, classes: as in `evaluation.reliability`.
        ax: the Axes to draw on; `None` (default) makes a new figure.
        label: the curve's name in the legend. Defaults to `None`, no name.

    Returns:
        The Axes.

    References:
        - [DeGroot, Fienberg: The comparison and evaluation of forecasters, The
          Statistician 1983](https://doi.org/10.2307/2987588)

    Example:

    >>> ax = reliability_diagram([0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], num_bins=1)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['calibration error 0.133']
    """
    bins = reliability(y_true, probabilities, num_bins, class_id, classes)
    low, high = bins.intervals()
    filled = bins.count > 0
    axes, colour = axes_of_curves(ax)
    x, y = bins.confidence[filled], bins.frequency[filled]
    axes.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0))
    if not axes.get_lines():
        axes.axline((0.25, 0.25), (0.75, 0.75), color=GREY, linewidth=1.0, linestyle="--")
    error = f"calibration error {number(bins.error, 3)}"
    axes.plot(x, y, "o-", color=colour, markersize=4, label=f"{label}: {error}" if label else error)
    axes.vlines(x, low[filled], high[filled], color=colour, alpha=0.5)
    whose = "largest probability" if class_id is None else f"probability of class {class_id}"
    label_curves(axes, f"{whose}, mean of a bin", "share that came true")
    return axes
