"""Measures the calibration of predicted probabilities."""

import dataclasses
from typing import Any

import numpy as np
import scipy

from csdl_keras._utils.arrays import as_array, check_rows
from csdl_keras._utils.checks import check_bool, check_integer
from csdl_keras._utils.labels import class_labels
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.checks import check_labels, check_probabilities


@dataclasses.dataclass(frozen=True)
class Reliability:
    """Predicted probabilities and observed frequencies in `B` bins.

    Args:
        confidence: `(B,)`, mean predicted probability of each bin; NaN for an empty bin.
        frequency: `(B,)`, share of the predictions that came true; NaN for an empty bin.
        count: `(B,)`, number of predictions in each bin.
    """

    confidence: np.ndarray
    frequency: np.ndarray
    count: np.ndarray

    @property
    def error(self) -> float:
        """The mean distance between confidence and frequency, weighted by the counts."""
        gaps = np.abs(self.confidence - self.frequency) * self.count
        return float(np.nansum(gaps) / self.count.sum())

    def intervals(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns both ends of Wilson's 95 % interval of each frequency; NaN for an empty bin."""
        ends = np.full((2, len(self.count)), np.nan)
        for b in np.flatnonzero(self.count):
            came_true = round(self.frequency[b] * self.count[b])
            test = scipy.stats.binomtest(came_true, int(self.count[b]))
            found = test.proportion_ci(method="wilson")
            ends[:, b] = found.low, found.high
        return ends[0], ends[1]


def reliability(
    y_true: ArrayLike,
    probabilities: ArrayLike,
    num_bins: int = 15,
    class_id: int | None = None,
    classes: Any = None,
) -> Reliability:
    """Sorts predictions into bins by their probability and compares them with the labels.

    Args:
        y_true: integer labels `(N,)`.
        probabilities: `(N, K)`, or `(N, 1)` of class 1.
        num_bins: number of bins of equal width. Defaults to 15.
        class_id: the class, or with `classes` its label, whose probability is examined; `None`
            (default) examines the largest probability of each example.
        classes: the `K` labels in the order of the columns, or the model or estimator that has
            them; `None` (default) if labels are column numbers.

    Returns:
        A `Reliability`.

    Example:

    >>> bins = reliability([0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], num_bins=2)
    >>> bins.count, bins.frequency.round(2), bins.confidence.round(2)
    (array([0, 3]), array([ nan, 0.67]), array([nan, 0.8]))
    """
    labels, rows = _check(y_true, probabilities, num_bins, classes)
    if class_id is not None:
        if class_labels(classes) is not None:
            class_id = int(check_labels([class_id], rows.shape[1], classes)[0])
        check_integer("class_id", class_id, low=0, high=rows.shape[1] - 1)
    return _in_bins(labels, rows, class_id, num_bins)


def calibration_error(
    y_true: ArrayLike,
    probabilities: ArrayLike,
    num_bins: int = 15,
    classwise: bool = False,
    classes: Any = None,
) -> float:
    """Computes the expected calibration error of a classifier.

    `sum_b |B_b| / N |mean confidence of B_b - accuracy of B_b|`, by the largest probability.

    Args:
        y_true, probabilities, num_bins, classes: as in `reliability`.
        classwise: whether to average over the probabilities of all classes. Defaults to False.

    References:
        - [Guo et al.: On calibration of modern neural networks, ICML
          2017](https://proceedings.mlr.press/v70/guo17a.html)
        - [Kull et al.: Beyond temperature scaling, NeurIPS
          2019](https://arxiv.org/abs/1910.12656) (classwise)

    Example:

    >>> round(calibration_error([0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], 2), 3)
    0.133
    """
    labels, rows = _check(y_true, probabilities, num_bins, classes)
    wanted = range(rows.shape[1]) if check_bool("classwise", classwise) else [None]
    return float(np.mean([_in_bins(labels, rows, k, num_bins).error for k in wanted]))


def probabilities_by_class(probabilities: ArrayLike, classes: Any = None) -> np.ndarray:
    """Returns `check_probabilities`, also of `(N,)` probabilities of class 1."""
    array = as_array("probabilities", probabilities, "(N, K) or (N,)")
    return check_probabilities(array[:, None] if array.ndim == 1 else probabilities, classes)


def _check(
    y_true: ArrayLike, probabilities: ArrayLike, num_bins: int, classes: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Returns labels `(N,)` and probabilities `(N, K)`."""
    check_integer("num_bins", num_bins, high=1_000_000)
    rows = check_probabilities(probabilities, classes)
    labels = check_labels(y_true, rows.shape[1], classes)
    check_rows("probabilities", rows, len(labels))
    return labels, rows


def _in_bins(
    labels: np.ndarray, rows: np.ndarray, class_id: int | None, num_bins: int
) -> Reliability:
    """Sorts probabilities of a class, or the largest ones, into bins."""
    chosen = rows.argmax(axis=1) if class_id is None else np.full(len(rows), class_id)
    predicted = np.take_along_axis(rows, chosen[:, None], axis=1)[:, 0]
    # The right end of a bin belongs to it, so that 1 is in the last bin.
    index = np.clip(np.ceil(predicted * num_bins).astype(np.int64) - 1, 0, num_bins - 1)
    count = np.bincount(index, minlength=num_bins)

    def means(values: np.ndarray) -> np.ndarray:
        totals = np.bincount(index, weights=values, minlength=num_bins)
        return np.divide(totals, count, out=np.full(num_bins, np.nan), where=count > 0)

    return Reliability(means(predicted), means((chosen == labels).astype(np.float64)), count)
