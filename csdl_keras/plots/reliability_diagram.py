"""What a classifier's probabilities say against what comes true."""

from typing import Any

from matplotlib.axes import Axes

from csdl_keras._utils.arrays import check_label
from csdl_keras.evaluation.calibration_error import reliability
from csdl_keras.plots._axes import axes_of_curves, next_colour, number


def reliability_diagram(
    y_true: Any,
    probabilities: Any,
    num_bins: int = 15,
    class_id: int | None = None,
    ax: Axes | None = None,
    label: str | None = None,
) -> Axes:
    """Draws the share of predictions that come true against their probability.

    Calibrated probabilities lie on the diagonal; a curve below it is too sure
    of itself, which makes a decision at the lowest expected cost trust it too
    much. A point for each bin that has predictions, its area by their share; the
    legend has the calibration error, see `evaluation.calibration_error`.

    Args:
        y_true: integer labels of shape `(N,)`.
        probabilities: `(N, K)`, or `(N, 1)` of class 1.
        num_bins: number of bins of equal width. Defaults to 15.
        class_id: `None` (default) draws the largest probabilities; a class, the
            probabilities of that class.
        ax: the Axes to draw on; `None` (default) makes a new figure.
        label: the curve's name in the legend. Defaults to `None`, no name.

    Returns:
        The Axes.

    Raises:
        ValueError: if labels, probabilities or bins fail their checks.

    References:
        - [DeGroot, Fienberg: The comparison and evaluation of forecasters, The
          Statistician 1983](https://doi.org/10.2307/2987588)

    Example:

    >>> ax = reliability_diagram([0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], num_bins=2)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['calibration error 0.133']
    """
    bins = reliability(y_true, probabilities, num_bins, class_id)
    label = check_label(label)
    axes = axes_of_curves(ax)
    if not axes.lines:
        axes.plot([0.0, 1.0], [0.0, 1.0], color="0.6", linewidth=1.0, linestyle="--")
    full = bins.count > 0
    colour = next_colour(axes)
    error = f"calibration error {number(bins.error)}"
    axes.plot(
        bins.confidence[full],
        bins.frequency[full],
        color=colour,
        label=error if label is None else f"{label}: {error}",
    )
    shares = bins.count[full] / bins.count.sum()
    axes.scatter(bins.confidence[full], bins.frequency[full], s=20 + 200 * shares, color=colour)
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(0.0, 1.0)
    whose = "largest probability" if class_id is None else f"probability of class {class_id}"
    axes.set_xlabel(f"{whose}, mean of a bin")
    axes.set_ylabel("share that came true")
    axes.legend(frameon=False)
    return axes
