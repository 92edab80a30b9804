"""Functions of `evaluation` refuse what they document, and take any container of arguments."""

import numpy as np

from csdl_keras import evaluation
from tests.robustness.outcome import public_functions
from tests.robustness.rows import Row, names_of, table_tests
from tests.robustness.samples import amounts, matrix, probabilities, vectors

THIRDS = {"expected_costs": None, "probabilities": np.full((5, 3), 1 / 3)}
FREE = {"cost_matrix": np.zeros((3, 4))}
VECTORS = {"y_true": np.eye(5, 4), "cost_matrix": None}
AMOUNTS = {"cost_matrix": None, "amounts": np.arange(-6.0, 6.0).reshape(3, 4)}
MATRICES = {"cost_matrix": np.arange(60.0).reshape(5, 3, 4)}

y_errors = (
    ({"y_true": [0, 1, 2, 3, 0]}, "`labels` of at least 0 and below 3"),
    ({"y_true": [0.0, 1, 2, 1, 0]}, "integer dtype"),
    ({"cost_matrix": np.ones((3, 4))}, "diagonal is 0"),
    ({"cost_matrix": np.ones((4, 3, 4))}, "a matrix for each of 5 examples"),
    ({"cost_matrix": -np.ones((5, 3, 4))}, "at least 0; received -1.0"),
    ({"cost_matrix": None}, r"cost vectors \(N, D\), or labels and a `cost_matrix`"),
)
PIXELS = {"y_true": np.eye(3, dtype=int)[:, :, None], "decisions": np.ones((3, 3, 1), int)}
pixel_errors = (
    (PIXELS | {"decisions": np.zeros((3, 2), int)}, r"of shape \(3, 2\), that of `decisions`"),
    (PIXELS | {"cost_matrix": np.ones((3, 3, 4))}, r"\(K, D\) for decisions of shape \(3, 3, 1\)"),
    (PIXELS | {"y_true": np.full((3, 3, 1), 3)}, "below 3"),
)
decision_errors = (
    *y_errors,
    ({"decisions": [0, 1, 2]}, "an integer for each label"),
    ({"decisions": np.zeros(5)}, "an integer for each label"),
    ({"decisions": [0, 1, 2, 3, 4]}, "below 4"),
    ({"decisions": [0, 1, 2, 3, -1]}, "at least 0"),
)
free_errors = (*decision_errors, (FREE, "every constant decision to cost something"))
estimate_errors = (
    *y_errors,
    ({"expected_costs": np.ones((5, 3))}, "a column for each decision"),
    ({"expected_costs": np.ones((4, 4))}, "a row for each of 5 labels"),
    ({"expected_costs": np.full((5, 4), np.inf)}, "finite"),
    ({"expected_costs": None}, "`expected_costs` or `probabilities`; received neither"),
    ({"probabilities": np.eye(5, 3)}, "without `expected_costs`; received both"),
    (VECTORS | {"probabilities": np.eye(5, 3)}, "received no matrix"),
    (THIRDS | {"probabilities": np.full((5, 3), 0.5)}, "to sum to 1"),
    (THIRDS | {"probabilities": np.full((5, 2), 0.5)}, "a row for each of 2 classes"),
)
probability_errors = (
    ({"y_true": [0, 1, 2, 3, 0]}, "below 3"),
    ({"y_true": [0]}, "a row for each of 1 labels"),
    ({"probabilities": np.full((5, 3), 0.5)}, "to sum to 1"),
    ({"probabilities": np.full((5, 1), 1.5)}, r"to lie in \[0, 1\]"),
    ({"probabilities": [[-0.5, 1.5, 0.0]] * 5}, "at least 0"),
    ({"num_bins": 1_000_001}, "at most 1000000"),
)
one_column = {"probabilities": np.full((5, 1), 0.5), "y_true": [0, 1, 0, 1, 0]}


def decided(rng, k, **others):
    """Five examples, their decisions and a matrix with one decision that is no class."""
    y, d = rng.integers(k, size=5), rng.integers(k + 1, size=5)
    return {"y_true": y, "decisions": d, "cost_matrix": matrix(rng, k, k + 1)} | others


def estimated(rng, k):
    given = decided(rng, k)
    del given["decisions"]
    return given | {"expected_costs": amounts(rng, 5, k + 1)}


def reported(rng, k):
    given = decided(rng, k)
    names = {"class_names": [*map(str, range(k))], "decision_names": [*map(str, range(k + 1))]}
    own, today = given["decisions"], rng.integers(k + 1, size=5)
    others = {"baseline": today, "unit": "€", "largest": 99.0}
    return given | names | others | {"decisions": {"a": own}}


def predicted(rng, k, **others):
    y = rng.integers(k, size=5)
    return {"y_true": y, "probabilities": probabilities(rng, 5, k), "num_bins": 4} | others


def of_decisions(function, errors=decision_errors, also=(VECTORS, MATRICES)):
    return Row(function, decided, errors, also)


def of_pixels(function, errors=decision_errors):
    vectors = PIXELS | {"y_true": np.ones((3, 3, 1, 4)), "cost_matrix": None}
    return of_decisions(function, (*errors, *pixel_errors), (VECTORS, MATRICES, PIXELS, vectors))


strategy_errors = (({"strategy": "equal"}, "`strategy` to be one of"),)

ROWS = {
    "decision_costs": of_decisions(evaluation.decision_costs),
    "average_cost": of_pixels(evaluation.average_cost),
    "normalized_cost": of_pixels(evaluation.normalized_cost, free_errors),
    "savings": of_pixels(evaluation.savings, free_errors),
    "error_rate": of_pixels(evaluation.error_rate),
    "cost_per_class": of_decisions(
        evaluation.cost_per_class, (*decision_errors[:5], *pixel_errors), (MATRICES, PIXELS)
    ),
    "cost_interval": Row(
        evaluation.cost_interval,
        lambda rng, k: decided(rng, k, confidence=0.9, largest=99.0),
        (
            *decision_errors,
            ({"confidence": 0}, "`confidence`"),
            ({"confidence": 1}, "below 1"),
            ({"largest": 0.001}, "at most `largest`"),
        ),
        (VECTORS, MATRICES, {"largest": None}),
    ),
    "compare_costs": Row(
        evaluation.compare_costs,
        lambda rng, k: decided(rng, k, other_decisions=rng.integers(k, size=5), largest=99.0),
        (
            *decision_errors,
            ({"other_decisions": [0, 1]}, "an integer for each label"),
            ({"largest": 0.001}, "at most `largest`"),
        ),
        (VECTORS, MATRICES, {"largest": None}),
    ),
    "cost_report": Row(
        evaluation.cost_report,
        reported,
        (
            *y_errors,
            ({"decisions": {}}, "a dict of at least one"),
            ({"decisions": {1: [0, 1, 2, 0, 1]}}, "names in `decisions` to be strings"),
            ({"decisions": {"a": [0, 1, 2, 3, 4]}}, "below 4"),
            ({"baseline": [0, 1, 2]}, r"`baseline` of shape \(5,\)"),
            ({"amounts": np.ones((3, 4))}, "either `cost_matrix` or `amounts`"),
            (VECTORS, "no `class_names` with cost vectors"),
            (AMOUNTS | {"amounts": np.full((3, 4), np.nan)}, "`amounts` to be finite"),
            ({"class_names": ["a"]}, "`class_names` to be 3 names"),
            ({"decision_names": ["a"]}, "`decision_names` to be 4 names"),
            ({"largest": 0.001}, "at most `largest`"),
        ),
        (
            {"largest": None},
            VECTORS | {"class_names": None, "baseline": None, "unit": None},
            MATRICES | {"decision_names": None},
            AMOUNTS,
            AMOUNTS | {"amounts": np.arange(-30.0, 30.0).reshape(5, 3, 4)},
        ),
        ("amounts",),
    ),
    "reliability": Row(
        evaluation.reliability,
        lambda rng, k: predicted(rng, k, class_id=1, strategy="uniform"),
        (*probability_errors, *strategy_errors, ({"class_id": 3}, "at most 2")),
        (one_column, {"class_id": None}, {"strategy": "quantile"}),
    ),
    "calibration_error": Row(
        evaluation.calibration_error,
        lambda rng, k: predicted(rng, k, classwise=False, strategy="uniform"),
        (*probability_errors, *strategy_errors),
        (one_column, {"classwise": True}, {"strategy": "quantile"}),
    ),
    "estimate_priors": Row(
        evaluation.estimate_priors,
        lambda rng, k: (
            {"probabilities": probabilities(rng, 5, k), "from_priors": 1 + vectors(rng, k)}
            | {"reference": (probabilities(rng, 6, k), rng.integers(k, size=6))}
        ),
        (
            *probability_errors[2:5],
            ({"from_priors": [1, 0, 1]}, "`from_priors`.*above 0"),
            ({"from_priors": [1, 1]}, "each of 3 classes; received 2"),
            ({"reference": (np.eye(3), [0, 1])}, "a row for each of 2 labels"),
            ({"reference": (np.eye(2), [0, 1])}, "probabilities of 3 classes"),
        ),
        ({"reference": None},),
    ),
    "risk_coverage_curve": Row(
        evaluation.risk_coverage_curve,
        estimated,
        estimate_errors,
        (VECTORS, MATRICES, THIRDS, THIRDS | MATRICES),
        ("probabilities",),
    ),
    "risk_coverage_area": Row(
        evaluation.risk_coverage_area,
        estimated,
        estimate_errors,
        (VECTORS, MATRICES, THIRDS, THIRDS | MATRICES),
        ("probabilities",),
    ),
}


def test_every_public_function_is_here():
    assert names_of(ROWS) == public_functions(evaluation)


TestTable = table_tests(ROWS)
