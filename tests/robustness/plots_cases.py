"""Each function of `plots`: right arguments, and what its documentation says."""

from unittest import mock

import numpy as np
import pandas
import pytest

from tests.robustness.calibration_cases import calibrated, covered, labels_and_probabilities
from tests.robustness.costs_cases import amounts, floats, matrix, vectors
from tests.robustness.documented import (
    array_of_numbers,
    is_finite,
    is_indices,
    is_integer,
    is_matrix,
)
from tests.robustness.evaluation_cases import labels_and_matrix, scored
from tests.robustness.outcome import Case

plots = pytest.importorskip("csdl_keras.plots")
figure = pytest.importorskip("matplotlib.figure")

REAL = figure.Figure().add_subplot()


def blank():
    """An Axes that draws nothing, and remembers what it was asked to draw."""
    axes = mock.MagicMock(spec=REAL)
    axes.bbox.width, axes.bbox.height, axes.figure.dpi = 400.0, 300.0, 100.0
    axes.get_lines.return_value = axes.lines = []
    return axes


BLANK = blank()


def numbers_and_words(value):
    """The numbers and strings in what a method was given."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [one for key in sorted(value) for one in numbers_and_words(value[key])]
    if isinstance(value, (list, tuple, range)):
        return [one for part in value for one in numbers_and_words(part)]
    array = array_of_numbers(value)
    return [] if array is None else [array]


def drawn(function):
    """What a function draws, as numbers and words; it returns the Axes that it was given."""

    def call(*arguments):
        BLANK.reset_mock()
        assert function(*arguments, ax=BLANK) is BLANK
        calls = [(name, *args, kwargs) for name, args, kwargs in BLANK.method_calls]
        return tuple(one for parts in calls for one in numbers_and_words(parts))

    return call


def is_label(label):
    return label is None or isinstance(label, str)


def finite(result, *_):
    """Whether nothing is drawn at NaN, and something is."""
    arrays = [one for one in result if not isinstance(one, str)]
    return arrays and not any(np.isnan(array).any() for array in arrays)


def is_betas(betas):
    right = is_finite(betas, 1)
    betas = floats(betas) if right else None
    return right and betas.min() >= 0 and betas.max() <= 1 and (np.diff(betas) > 0).all()


def is_table(costs, width):
    if isinstance(costs, pandas.DataFrame) and (costs.dtypes == "Int64").all():
        costs = costs.astype("f8")  # in which nothing is NaN
    array = array_of_numbers(costs)
    if array is None or array.ndim != 2 or array.shape[1] != width or not len(array):
        return False
    known = ~np.isnan(array)
    return known.any() and (array[known] >= 0).all() and (array[known] <= 1e38).all()


def are_ratios(costs):
    """Whether costs may be divided by each row's first."""
    if (costs[:, 0] == 0).any():
        return False
    with np.errstate(over="ignore"):
        return not (costs / costs[:, :1] > 1e38).any()


def two_classes(rng, k):
    size = int(rng.integers(1, 7))
    return rng.integers(2, size=size), rng.integers(17, size=size) / 16, matrix(rng, 2, 2)


def is_certainty(p, size):
    if is_finite(p, 2) and np.shape(p)[1] == 2:
        sums = floats(p).sum(axis=1)
        return len(sums) == size and np.abs(sums - 1).max() <= 0.01 and floats(p).min() >= 0
    right = is_finite(p, 1) or (is_finite(p, 2) and np.shape(p)[1] == 1)
    return right and len(p) == size and floats(p).min() >= 0 and floats(p).max() <= 1


CASES = {
    "beta_curve": Case(
        drawn(
            lambda betas, costs, label, relative, ax: plots.beta_curve(
                betas, costs, ax, label, relative
            )
        ),
        lambda rng, k: (np.arange(k) / 8, vectors(rng, 3, k) + 1, "curve", bool(rng.integers(2))),
        lambda betas, costs, label, relative: (
            is_betas(betas)
            and is_table(costs, len(betas))
            and is_label(label)
            and isinstance(relative, bool)
            and not (relative and (betas[0] != 0 or not are_ratios(floats(costs))))
        ),
    ),
    "cost_against": Case(
        drawn(
            lambda values, costs, name, log, label, ax: plots.cost_against(
                values, costs, name, ax, log, label
            )
        ),
        lambda rng, k: (vectors(rng, k) + 1, amounts(rng, k), "depth", False, None),
        lambda values, costs, name, log, label: (
            is_finite(values, 1)
            and is_finite(costs, 1)
            and len(values) == len(costs)
            and isinstance(name, str)
            and isinstance(log, bool)
            and not (log and floats(values).min() <= 0)
            and is_label(label)
        ),
        holds=finite,
    ),
    "cost_against_threshold": Case(
        drawn(lambda y, p, m, label, ax: plots.cost_against_threshold(y, p, m, ax, label)),
        lambda rng, k: (*two_classes(rng, k), "curve"),
        lambda y, p, m, label: (
            is_matrix(m, True)
            and len(m) == 2
            and is_indices(y, 2)
            and is_certainty(p, len(y))
            and is_label(label)
        ),
        holds=finite,
    ),
    "cost_confusion": Case(
        drawn(plots.cost_confusion),
        labels_and_matrix,
        lambda y, d, m: m is not None and scored(y, d, m),
        holds=finite,
    ),
    "cost_matrix_heatmap": Case(
        drawn(plots.cost_matrix_heatmap),
        lambda rng, k: (matrix(rng, k, k + 1),),
        is_matrix,
        holds=finite,
    ),
    "reliability_diagram": Case(
        drawn(
            lambda y, p, bins, class_id, label, ax: plots.reliability_diagram(
                y, p, bins, class_id, ax, label
            )
        ),
        lambda rng, k: (*labels_and_probabilities(rng, k), 4, int(rng.integers(k)), None),
        lambda y, p, bins, class_id, label: (
            calibrated(y, p)
            and is_integer(bins, 1, 1_000_000)
            and (class_id is None or is_integer(class_id, 0, max(2, np.shape(p)[1]) - 1))
            and is_label(label)
        ),
        holds=finite,
    ),
    "risk_coverage": Case(
        drawn(lambda y, e, m, label, ax: plots.risk_coverage(y, e, m, ax, label)),
        lambda rng, k: (lambda y, d, m: (y, amounts(rng, len(y), k + 1), m, "curve"))(
            *labels_and_matrix(rng, k)
        ),
        lambda y, e, m, label: covered(y, e, m) and is_label(label),
        holds=finite,
    ),
}
