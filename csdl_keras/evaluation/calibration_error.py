"""How far predicted probabilities are from the shares that come true."""

import dataclasses
from typing import Any

import numpy as np

from csdl_keras._utils.arrays import check_rows, real_array
from csdl_keras._utils.checks import check_integer
from csdl_keras.costs import check_labels


@dataclasses.dataclass(frozen=True)
class Reliability:
    """Predictions in bins of equal width: what they said, and what came true.

    Args:
        confidence: mean predicted probability of each bin, NaN of an empty one.
        frequency: share of each bin's predictions that came true, NaN of an empty one.
        count: predictions of each bin.
    """

    confidence: np.ndarray
    frequency: np.ndarray
    count: np.ndarray

    @property
    def error(self) -> float:
        """The mean distance of the two, bins weighted by their counts."""
        full = self.count > 0
        gaps = np.abs(self.confidence[full] - self.frequency[full])
        return float(np.average(gaps, weights=self.count[full]))


def reliability(
    y_true: Any, probabilities: Any, num_bins: int = 15, class_id: int | None = None
) -> Reliability:
    """Sorts predictions into bins by their probability and compares with the labels.

    Args:
        y_true: integer labels `(N,)`.
        probabilities: `(N, K)`, or `(N, 1)` of class 1, as `model.predict` returns them.
        num_bins: number of bins of equal width on [0, 1], at most 1,000,000.
            Defaults to 15.
        class_id: `None` (default) takes each example's largest probability, which
            comes true if that class is the label; a class takes the probability
            of that class for every example.

    Returns:
        A `Reliability`.

    Raises:
        ValueError: if an argument fails its check.

    Example:

    >>> bins = reliability([0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], num_bins=2)
    >>> bins.count, bins.frequency.round(2), bins.confidence.round(2)
    (array([0, 3]), array([ nan, 0.67]), array([nan, 0.8]))
    """
    labels, rows = _check(y_true, probabilities, num_bins)
    if class_id is None:
        return _in_bins(rows.max(axis=1), rows.argmax(axis=1) == labels, num_bins)
    if check_integer("class_id", class_id, low=0) >= rows.shape[1]:
        raise ValueError(
            f"Expected `class_id` below {rows.shape[1]}, the number of classes; "
            f"received {class_id}."
        )
    return _in_bins(rows[:, class_id], labels == class_id, num_bins)


def calibration_error(
    y_true: Any, probabilities: Any, num_bins: int = 15, classwise: bool = False
) -> float:
    """The expected calibration error of a classifier.

    `sum_b |B_b| / N |mean confidence of B_b - accuracy of B_b|` over bins of the
    largest probability. `classwise=True` takes, class after class, the
    probability of that class for every example, and returns the mean over
    classes: expected costs depend on all probabilities, not on the largest alone.

    Args:
        y_true: integer labels `(N,)`.
        probabilities: `(N, K)`, or `(N, 1)` of class 1.
        num_bins: number of bins of equal width. Defaults to 15.
        classwise: whether to average over classes. Defaults to False.

    Returns:
        A float between 0, calibrated, and 1.

    Raises:
        ValueError: if an argument fails its check.

    References:
        - [Guo et al.: On calibration of modern neural networks, ICML
          2017](https://proceedings.mlr.press/v70/guo17a.html)
        - [Kull et al.: Beyond temperature scaling, NeurIPS
          2019](https://arxiv.org/abs/1910.12656) (classwise)

    Example:

    >>> round(calibration_error([0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], 2), 3)
    0.133
    """
    if not classwise:
        return reliability(y_true, probabilities, num_bins).error
    labels, rows = _check(y_true, probabilities, num_bins)
    errors = [_in_bins(said, labels == k, num_bins).error for k, said in enumerate(rows.T)]
    return float(np.mean(errors))


def _check(y_true: Any, probabilities: Any, num_bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels `(N,)` and probabilities `(N, K)`."""
    check_integer("num_bins", num_bins, high=1_000_000)
    rows = real_array("probabilities", probabilities, 2, "(N, K)", low=0.0)
    if rows.shape[1] == 1:
        rows = np.hstack([1.0 - rows, rows])
    # As wide as sums of softmax in float32 stray.
    wrong = np.flatnonzero((np.abs(rows.sum(axis=1) - 1.0) > 1e-2) | (rows.min(axis=1) < 0.0))
    if len(wrong):
        raise ValueError(
            f"Expected rows of `probabilities` that sum to 1; received row {wrong[0]}, "
            f"{rows[wrong[0]]}."
        )
    labels = check_labels(y_true, rows.shape[1])
    check_rows("probabilities", rows, len(labels))
    return labels, rows


def _in_bins(said: np.ndarray, came: np.ndarray, num_bins: int) -> Reliability:
    """Probabilities in bins, with the share of them that came true."""
    # The right end of a bin belongs to it, so that 1 is in the last.
    index = np.clip(np.ceil(said * num_bins).astype(np.int64) - 1, 0, num_bins - 1)
    count = np.bincount(index, minlength=num_bins)

    def means(values: np.ndarray) -> np.ndarray:
        totals = np.bincount(index, weights=values, minlength=num_bins)
        return np.divide(totals, count, out=np.full(num_bins, np.nan), where=count > 0)

    return Reliability(means(said), means(came.astype(np.float64)), count)
