"""Metrics refuse what they document, and take any container of right arguments."""

import inspect

import numpy as np
import pytest

from csdl_keras import metrics
from tests.robustness.rows import Row, names_of, table_tests
from tests.robustness.samples import amounts, matrix, probabilities, vectors
from tests.support.testing import to_numpy

SIZE = 4
VECTORS = {"y_true": 2 * np.eye(SIZE, 4)}
ONE_HOT = {"y_true": np.eye(SIZE, 4)}
PIXELS = {"y_true": np.zeros((SIZE, 2), int), "y_pred": 2 * np.eye(SIZE)[:, None] * np.ones((2, 1))}
SOFTMAX = np.full((SIZE, 4), 0.25)

errors = (
    ({"y_true": [0, 1, 2]}, "labels?.*for each|of one shape|of shape"),
    ({"y_pred": np.ones(SIZE)}, r"of shape \(batch, D\)"),
    ({"y_pred": np.ones((SIZE, 1)), "output": None}, "at least two decisions|of one shape"),
    ({"y_pred": np.full((SIZE, 4), 1e39)}, "size up to"),
    ({"y_pred": SOFTMAX, "output": None}, "rows that sum to 1"),
    ({"sample_weight": np.ones(3)}, "`sample_weight` of shape"),
    ({"output": "logit"}, "`output` to be one of"),
    (PIXELS | {"y_true": np.zeros((SIZE, 3), int)}, r"for each of|\(batch, 2\)"),
    (PIXELS | {"sample_weight": np.ones((SIZE, 3))}, r"or \(4, 2\); received \(4, 3\)"),
)
matrix_errors = (
    ({"y_pred": np.ones((SIZE, 5))}, "of one shape"),
    ({"y_true": [0, 1, 2, 3]}, "below 3"),
    ({"y_true": [0, 1, 2, 0.5]}, "integer dtype"),
    ({"cost_matrix": 1 + np.eye(3)}, "diagonal is 0"),
    ({"bayes": True}, "outputs that are probabilities with bayes=True"),
)

known_errors = (
    ({"y_true": [0, 1, 2]}, "for each of 3 examples|a label for each of .?4"),
    ({"y_true": [0, 1, 2, 3]}, "below 3"),
    ({"y_true": np.eye(SIZE, 3)}, r"`?labels`? of shape|integer dtype"),
    ({"y_pred": np.full((SIZE, 4), 0.25)}, "3 probabilities, one for each row of `costs`"),
    ({"y_pred": np.ones((SIZE, 4))}, "sum to 1"),
    ({"costs": np.ones((3, 3, 4))}, "a matrix for each of 4 examples"),
    ({"costs": -np.ones((SIZE, 3, 4))}, "at least 0"),
    ({"costs": np.full((SIZE, 3, 4), np.nan)}, "finite"),
    ({"output": "cost", "y_pred": np.full((SIZE, 3), 2.0)}, "4 estimated costs"),
    ({"output": None}, "rows that sum to 1"),
)


def metric(made, more=(), also=(), labelled=True, **own):
    """Of a metric, what is made of `own` arguments, updated and read."""

    def right(rng, k):
        y, w = rng.integers(k, size=SIZE), rng.integers(1, 8, size=SIZE) / 4
        given = {"y_true": y, "y_pred": amounts(rng, SIZE, k + 1), "sample_weight": w}
        given["binary_costs"] = False
        return given | ({"cost_matrix": matrix(rng, k, k + 1)} if labelled else {}) | own

    def call(y_true, y_pred, sample_weight, **given):
        metric = made(**given)
        metric.update_state(y_true, y_pred, sample_weight)
        return to_numpy(metric.result())

    pixels = PIXELS | {"sample_weight": np.ones((SIZE, 2))}
    also = ({"sample_weight": None}, {"sample_weight": np.ones((SIZE, 1))}, PIXELS, pixels, *also)
    return Row(made, right, (*errors, *more), also, ("name", "dtype"), call, 1e-5)


def known(made, **own):
    """Of a metric that is given costs of each example beside labels and probabilities."""

    def right(rng, k):
        y, w = rng.integers(k, size=SIZE), rng.integers(1, 8, size=SIZE) / 4
        given = {"y_true": y, "y_pred": probabilities(rng, SIZE, k), "sample_weight": w}
        return given | {"costs": vectors(rng, SIZE, k, 4), "output": "probability"} | own

    def call(y_true, y_pred, sample_weight, costs, **given):
        metric = made(**given)
        metric.update_state(y_true, y_pred, sample_weight, costs)
        return to_numpy(metric.result())

    others = ("cost_matrix", "bayes", "class_id", "name", "dtype", "binary_costs")
    free = {*inspect.signature(made).parameters} & {*others}
    also = ({"costs": matrix(np.random.default_rng(0), 3, 4)}, {"sample_weight": None})
    return Row(
        made, right, known_errors, also, tuple(free), call, 1e-5, ("pandas, shuffled index",)
    )


def priced(made):
    more = (
        *matrix_errors,
        ({"cost_matrix": None}, "`cost_matrix` or `num_decisions`"),
        ({"num_decisions": 5}, "`num_decisions` to be 4"),
        (VECTORS | {"cost_matrix": None, "num_decisions": 3}, r"\(batch, 3\)"),
        (ONE_HOT | {"cost_matrix": None, "num_decisions": 4}, "4 rows, all one-hot"),
    )
    vectors = {"cost_matrix": None, "num_decisions": 4}
    also = (VECTORS | vectors, ONE_HOT | vectors | {"binary_costs": True})
    row = metric(made, more, also, output="cost", bayes=False)
    return Row(**vars(row) | {"free": (*row.free, "num_decisions")})


ROWS = {
    "AverageCost": metric(
        metrics.AverageCost,
        (
            *matrix_errors,
            ({"class_id": 3}, "`class_id`"),
            (VECTORS | {"cost_matrix": None}, "`cost_matrix` with `class_id`"),
            (ONE_HOT | {"cost_matrix": None, "class_id": None}, "4 rows, all one-hot"),
        ),
        (
            VECTORS | {"cost_matrix": None, "class_id": None},
            ONE_HOT | {"cost_matrix": None, "class_id": None, "binary_costs": True},
            {"bayes": True, "output": "probability", "y_pred": np.eye(SIZE, 3)[[0, 1, 2, 0]]},
        ),
        output="cost",
        bayes=False,
        class_id=1,
    ),
    "DecisionAccuracy": metric(
        metrics.DecisionAccuracy,
        ((ONE_HOT, "4 rows, all one-hot"),),
        (VECTORS, ONE_HOT | {"binary_costs": True}),
        labelled=False,
        output="cost",
    ),
    "AverageCost, known costs": known(metrics.AverageCost),
    "DecisionAccuracy, known costs": known(metrics.DecisionAccuracy),
    "Savings, known costs": known(metrics.Savings, num_decisions=4),
    "NormalizedCost": priced(metrics.NormalizedCost),
    "Savings": priced(metrics.Savings),
}


def test_every_public_class_is_here():
    assert names_of(ROWS) == set(metrics.__all__)


TestTable = table_tests(ROWS)


def test_what_is_refused_is_not_added():
    metric, shapes = metrics.Savings(num_decisions=3), [(2, 4), (1, 3), (2, 3)]
    right = np.array([[0.0, 4, 4], [4, 0, 4]]), np.array([[0.0, 1, 1], [0, 1, 1]])
    metric.update_state(*right)
    for shape, weight in zip(shapes, (None, None, np.ones(3)), strict=True):
        with pytest.raises(ValueError, match="^Expected"):
            metric.update_state(right[0], np.ones(shape), weight)
    assert float(metric.result()) == 0.0
