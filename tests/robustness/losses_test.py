"""Functions and classes of `losses` refuse what they document, and take any container."""

import numpy as np
import pytest

from csdl_keras import losses
from tests.robustness.rows import Row, names_of, table_tests
from tests.robustness.samples import amounts, matrix, vectors
from tests.support.testing import to_numpy

SIZE = 4
LABELS = {"y_true": np.zeros((SIZE, 1), int)}
VECTORS = {"y_true": np.eye(SIZE, 3), "cost_matrix": None}
ONE_HOT = np.eye(3)[[0, 1, 2, 0]]
PIXELS = {"y_true": np.zeros((SIZE, 2, 5), int), "y_pred": np.ones((SIZE, 2, 5, 3))}
TOO_LARGE = np.full((SIZE, 3), 1e39)

call_errors = (
    ({"y_pred": np.ones((SIZE, 5))}, "of one shape|of shape"),
    ({"y_pred": TOO_LARGE}, "size up to"),
    ({"sample_weight": np.ones(3)}, "`sample_weight` of shape"),
)
label_errors = (
    *call_errors,
    ({"y_true": [0, 1, 2, 3]}, "below 3"),
    ({"y_true": [0, 1, 2, 0.5]}, "integer dtype"),
    ({"y_pred": np.ones(SIZE)}, r"of shape \(batch, D\) or"),
    (PIXELS | {"y_true": np.zeros((SIZE, 5, 2), int)}, r"\(batch, 2, 5\) or"),
    (PIXELS | {"sample_weight": np.ones((SIZE, 2))}, r"or \(4, 2, 5\); received \(4, 2\)"),
    ({"cost_matrix": 1 + np.eye(3)}, "diagonal is 0"),
    ({"cost_scale": 0.0}, "`cost_scale`"),
    (VECTORS | {"y_true": ONE_HOT}, "4 rows, all one-hot"),
    ({"dtype": "float16"}, "32 bits or more"),
)
square = (({"cost_matrix": np.ones((3, 4)) - np.eye(3, 4)}, "one decision for each class|shape"),)


def shares(rng, *shape):
    return rng.integers(1, 8, size=shape) / 8


def function(loss, right, errors=(), also=()):
    names = [name for name in right(np.random.default_rng(0), 3)][:2]
    errors = (
        *(({name: np.ones((SIZE, 5))}, "of one shape") for name in names),
        *(({name: TOO_LARGE}, "size up to") for name in names),
        *errors,
    )
    return Row(loss, right, errors, also, call=lambda **g: to_numpy(loss(**g)), tolerance=1e-4)


def loss(made, right, errors, also=(), **own):
    def call(y_true, y_pred, sample_weight, **given):
        return to_numpy(made(reduction="sum", **own | given)(y_true, y_pred, sample_weight))

    def arguments(rng, k):
        return right(rng, k) | {"sample_weight": rng.integers(8, size=SIZE) / 4}

    also = ({"sample_weight": None}, {"sample_weight": np.ones((SIZE, 1))}, *also)
    return Row(made, arguments, errors, also, ("reduction", "name", "dtype"), call, 1e-4)


def of_labels(made, errors=square, **own):
    def right(rng, k):
        given = {"cost_matrix": matrix(rng, k, k), "y_true": rng.integers(k, size=SIZE)}
        given |= {"y_pred": amounts(rng, SIZE, k), "cost_scale": 0.125, "binary_costs": False}
        given |= {"output": made.output_kind}
        return given | {name: make(k) for name, make in own.items()}

    binary = VECTORS | {"y_true": ONE_HOT, "binary_costs": True}
    also = (LABELS, VECTORS, binary, PIXELS, PIXELS | {"sample_weight": np.ones((SIZE, 2, 5))})
    return loss(made, right, (*label_errors, *errors), also)


def of_pairs(made, right, errors=(), **own):
    return loss(made, right, (*call_errors, *errors), **own)


def rows(first, second):
    return lambda rng, k: {first: vectors(rng, SIZE, k), second: amounts(rng, SIZE, k)}


def labelled(rng, k):
    y = np.column_stack([rng.integers(k, size=SIZE), vectors(rng, SIZE, k + 1)])
    return {"y_true": y, "y_pred": amounts(rng, SIZE, k, k + 1)}


ROWS = {
    "expected_cost": Row(
        losses.expected_cost,
        lambda rng, k: {"expected_costs": amounts(rng, SIZE, k)},
        (({"expected_costs": np.ones(3)}, r"of shape \(batch, D\)"),),
        free=("y_true",),
        call=lambda expected_costs: to_numpy(losses.expected_cost(None, expected_costs)),
    ),
    "sosr": function(
        losses.sosr,
        lambda rng, k: rows("costs", "estimates")(rng, k) | {"alpha": 2.0},
        (({"alpha": 0.0}, "`alpha`"), ({"alpha": 1e7}, "`alpha`")),
        ({"costs": np.ones(3), "estimates": np.ones(3)},),
    ),
    "one_sided": function(losses.one_sided, rows("costs", "estimates")),
    "logistic_cost": function(
        losses.logistic_cost,
        lambda rng, k: {"costs": shares(rng, SIZE, k), "logits": amounts(rng, SIZE, k)},
    ),
    "poisson_cost": function(losses.poisson_cost, rows("costs", "log_estimates")),
    "min_loss": function(
        losses.min_loss,
        lambda rng, k: (
            {"costs": vectors(rng, SIZE, k), "outputs": shares(rng, SIZE, k)}
            | {"priors": np.full(k, 1 / k), "targets": np.eye(k)[rng.integers(k, size=SIZE)]}
        ),
        (
            ({"priors": [0.5, 0.5]}, "3 `priors`"),
            ({"priors": [0.5, 0.5, 0.5]}, "that sum to 1"),
            ({"priors": [1.0, 0.0, 0.0]}, "that sum to 1"),
            ({"targets": np.full((SIZE, 3), 0.5)}, "1 for one class"),
            ({"targets": np.eye(3)}, "of one shape"),
        ),
        ({"priors": None, "targets": None},),
    ),
    "reconstruction": function(
        losses.reconstruction,
        lambda rng, k: (
            {"inputs": shares(rng, SIZE, k), "reconstructions": shares(rng, SIZE, k)}
            | {"from_logits": False}
        ),
        also=({"from_logits": True},),
    ),
    "SOSRLoss": of_labels(
        losses.SOSRLoss, (*square, ({"alpha": 0.0}, "`alpha`")), alpha=lambda k: 2.0
    ),
    "OneSidedLoss": of_labels(losses.OneSidedLoss),
    "PoissonCostLoss": of_labels(losses.PoissonCostLoss, ()),
    "LogisticCostLoss": of_labels(
        losses.LogisticCostLoss, (({"cost_scale": 1.0}, "at most 1 after `cost_scale`"),)
    ),
    "MINLoss": of_labels(
        losses.MINLoss,
        (*square, ({"priors": [0.5, 0.5]}, "a row for each|priors")),
        priors=lambda k: np.full(k, 1 / k),
    ),
    "ObservedCostLoss": of_pairs(
        losses.ObservedCostLoss, labelled, (({"y_true": np.ones((SIZE, 4))}, r"1 \+ D"),)
    ),
    "SquaredErrorLoss": of_pairs(losses.SquaredErrorLoss, rows("y_true", "y_pred")),
    "ReconstructionLoss": of_pairs(
        losses.ReconstructionLoss,
        lambda rng, k: (
            {"y_true": shares(rng, SIZE, k), "y_pred": shares(rng, SIZE, k)}
            | {"from_logits": False}
        ),
    ),
}


def test_every_public_function_and_class_is_here():
    assert names_of(ROWS) == set(losses.__all__)


TestTable = table_tests(ROWS)

EXTREMES = [np.nan, np.inf, -np.inf, 1e38, -1e38, 3.5, 0.0]


@pytest.mark.parametrize("name", [name for name in losses.__all__ if name.islower()])
def test_an_entry_counts_for_its_example_alone(name):
    """A cost that is no finite number gives NaN; nothing raises, whatever the entry is."""
    right = ROWS[name].arguments()
    before = ROWS[name].outcome(**right)
    for argument in [name for name in right if np.shape(right[name]) == (SIZE, 3)][:2]:
        for extreme in EXTREMES:
            table = right[argument].copy()
            table[1, 2] = extreme
            after = ROWS[name].outcome(**right | {argument: table})
            np.testing.assert_array_equal(np.delete(after, 1), np.delete(before, 1))
            if argument == "costs" and not np.isfinite(extreme):
                assert np.isnan(after[1])
