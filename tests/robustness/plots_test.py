"""Functions of `plots` refuse what they document, and draw the same from any container."""

import itertools
from unittest import mock

import numpy as np
import pytest

from tests.robustness.documented import array_of_numbers
from tests.robustness.outcome import public_functions
from tests.robustness.rows import Row, names_of, table_tests
from tests.robustness.samples import amounts, matrix, probabilities, vectors

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


def plot(function, right, errors=(), also=(), free=()):
    """Of a function that draws, what it draws as numbers and words; nothing is at NaN."""

    def call(ax, **arguments):
        BLANK.reset_mock()
        assert function(**arguments, ax=ax) is ax
        calls = [(name, *args, kwargs) for name, args, kwargs in ax.method_calls]
        drawn = tuple(one for parts in calls for one in numbers_and_words(parts))
        arrays = [one for one in drawn if not isinstance(one, str)]
        assert arrays and not any(np.isnan(array).any() for array in arrays)
        return drawn

    return Row(function, lambda rng, k: right(rng, k) | {"ax": BLANK}, errors, also, free, call)


def of_decisions(rng, k):
    y, d = rng.integers(k, size=5), rng.integers(k + 1, size=5)
    return {"y_true": y, "decisions": d, "label": "rule"} | of_matrix(rng, k)


def of_matrix(rng, k):
    names = {"class_names": [*map(str, range(k))], "decision_names": [*map(str, range(k + 1))]}
    return {"cost_matrix": matrix(rng, k, k + 1), "unit": "€", "vmax": 2.5} | names


matrix_errors = (({"cost_matrix": 1 + np.eye(3, 4)}, "diagonal is 0"),)
colour_errors = (({"vmax": 0.0}, "`vmax` to be a finite number in .0.0, inf"),)
name_errors = (
    ({"class_names": ["a", "b"]}, "`class_names` to be 3 names; received 2"),
    ({"decision_names": itertools.count()}, "`decision_names` to be 4 names; received more"),
    ({"decision_names": "abcd"}, "4 names"),
)

ROWS = {
    "beta_curve": plot(
        plots.beta_curve,
        lambda rng, k: (
            {"betas": np.linspace(0, 1, k), "costs": vectors(rng, 3, k) + 1}
            | {"label": "curve", "relative": False, "unit": "€"}
        ),
        (
            ({"betas": [0, 0.5, 0.25]}, "to ascend from 0 to 1"),
            ({"betas": [0, 0.5, 1.5]}, "to ascend from 0 to 1"),
            ({"costs": np.ones((3, 2))}, "a column for each beta"),
            ({"costs": -np.ones((3, 3))}, "at least 0"),
            ({"costs": np.full((3, 3), 1e39)}, "size up to"),
            ({"costs": np.full((3, 3), np.nan)}, "not all missing"),
            ({"costs": np.zeros((3, 3)), "relative": True}, "above 0 at beta 0"),
            ({"betas": [0.1, 0.5, 1], "relative": True}, "first of `betas` to be 0"),
        ),
        ({"relative": True}, {"label": None}),
    ),
    "cost_against": plot(
        plots.cost_against,
        lambda rng, k: (
            {"values": vectors(rng, k) + 1, "costs": amounts(rng, k), "name": "depth"}
            | {"log": False, "label": "curve", "unit": "€"}
        ),
        (
            ({"costs": [1.0, 2.0]}, "for each of 3 `values`"),
            ({"values": [np.nan, 1, 2]}, "finite"),
            ({"values": [0, 1, 2], "log": True}, "above 0 for a logarithmic axis"),
        ),
        ({"log": True, "label": None},),
    ),
    "cost_against_threshold": plot(
        plots.cost_against_threshold,
        lambda rng, k: (
            {"y_true": rng.integers(2, size=k), "probabilities": rng.integers(17, size=k) / 16}
            | {"cost_matrix": matrix(rng, 2, 2), "label": "curve", "unit": "€"}
            | {"scale": "linear"}
        ),
        (
            ({"scale": "log"}, "`scale` to be one of"),
            ({"y_true": [0, 1, 2]}, "below 2"),
            ({"y_true": [0, 1]}, "for each of 2 labels"),
            ({"probabilities": [0.5, 1.5, 0]}, r"to lie in \[0, 1\]"),
            ({"probabilities": np.full((3, 3), 1 / 3)}, "only problems of two classes"),
            ({"cost_matrix": 1 - np.eye(3)}, "a row for each of 2 classes"),
            ({"cost_matrix": np.ones((3, 2, 3))}, "costs of two decisions"),
            ({"cost_matrix": np.ones((2, 2, 2))}, "a matrix for each of 3 examples"),
        ),
        (
            {"cost_matrix": np.ones((3, 2, 2))},
            {"unit": None},
            {"scale": "logit"},
            {"scale": None},
            {"probabilities": np.full((3, 2), 0.5)},
            {"probabilities": np.full((3, 1), 0.5)},
        ),
    ),
    "cost_confusion": plot(
        plots.cost_confusion,
        of_decisions,
        (
            *matrix_errors,
            *name_errors,
            *colour_errors,
            ({"y_true": [0, 1, 2, 3, 0]}, "below 3"),
            ({"decisions": [0, 1, 2, 3, 4]}, "below 4"),
        ),
        (
            {"class_names": None, "decision_names": None, "unit": None},
            {"cost_matrix": np.ones((5, 3, 4))},
            {"label": None, "vmax": None},
        ),
    ),
    "cost_matrix_heatmap": plot(
        plots.cost_matrix_heatmap,
        of_matrix,
        (*matrix_errors, *name_errors, *colour_errors),
        ({"vmax": None},),
    ),
    "reliability_diagram": plot(
        plots.reliability_diagram,
        lambda rng, k: (
            {"y_true": rng.integers(k, size=5), "probabilities": probabilities(rng, 5, k)}
            | {"num_bins": 4, "class_id": 1, "label": "curve", "scale": "logit"}
        ),
        (
            ({"scale": "log"}, "`scale` to be one of"),
            ({"y_true": [0, 1, 2, 3, 0]}, "below 3"),
            ({"probabilities": np.ones((5, 3))}, "to sum to 1"),
            ({"class_id": 3}, "at most 2"),
        ),
        ({"class_id": None, "label": None}, {"scale": None}, {"scale": "linear"}),
    ),
    "risk_coverage": plot(
        plots.risk_coverage,
        lambda rng, k: (
            {"y_true": rng.integers(k, size=5), "expected_costs": amounts(rng, 5, k + 1)}
            | {"cost_matrix": matrix(rng, k, k + 1), "label": "curve", "unit": "€"}
        ),
        (
            *matrix_errors,
            ({"y_true": [0, 1, 2, 3, 0]}, "below 3"),
            ({"expected_costs": np.ones((5, 3))}, "a column for each decision"),
            ({"expected_costs": None}, "received neither"),
        ),
        (
            {"cost_matrix": np.ones((5, 3, 4))},
            {"expected_costs": None, "probabilities": np.full((5, 3), 1 / 3)},
        ),
        ("probabilities",),
    ),
}


def test_every_public_function_is_here():
    assert names_of(ROWS) == public_functions(plots)


TestTable = table_tests(ROWS)
