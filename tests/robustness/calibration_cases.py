"""Functions of `evaluation` that take probabilities or expected costs, as in `evaluation_cases`."""

import numpy as np

from csdl_keras import evaluation
from tests.robustness.costs_cases import amounts, floats
from tests.robustness.documented import is_finite, is_indices, is_integer, is_probabilities
from tests.robustness.evaluation_cases import labels_and_matrix, table_of, vectors_alone
from tests.robustness.outcome import Case


def labels_and_probabilities(rng, k):
    size = int(rng.integers(1, 7))
    rows = rng.multinomial(16, np.full(k, 1 / k), size=size) / 16
    return rng.integers(k, size=size), rows


def two_columns(p):
    rows = floats(p)
    return np.column_stack([1 - rows, rows]) if rows.shape[1] == 1 else rows


def calibrated(y, p):
    return (
        is_probabilities(p)
        and is_indices(y, max(2, np.shape(p)[1]))
        and len(y) == len(np.asarray(p))
    )


def bins(y, p, num_bins, k):
    """Sorted into bins one prediction at a time."""
    rows, inside = two_columns(p), [[] for _ in range(num_bins)]
    for row, label in zip(rows, np.asarray(y).tolist(), strict=True):
        chosen = row.argmax() if k is None else k
        index = int(np.ceil(row[chosen] * num_bins)) - 1
        inside[min(max(index, 0), num_bins - 1)].append((row[chosen], float(chosen == label)))
    means = np.array([np.mean(one, axis=0) if one else [np.nan, np.nan] for one in inside])
    return evaluation.Reliability(means[:, 0], means[:, 1], np.array([len(one) for one in inside]))


def errors_of(y, p, num_bins, classes):
    return np.mean([bins(y, p, num_bins, k).error for k in classes])


def covered(y, e, m):
    table = table_of(y, m)
    return table is not None and is_finite(e, 2) and np.shape(e) == table.shape


def curve(y, e, m):
    table, expected = table_of(y, m), floats(e).tolist()
    order = sorted(range(len(table)), key=lambda n: min(expected[n]))
    costs = [table[n][expected[n].index(min(expected[n]))] for n in order]
    sizes = range(1, len(table) + 1)
    risks = [sum(costs[:size]) / size for size in sizes]
    return np.array([size / len(table) for size in sizes]), np.array(risks)


CASES = {
    "reliability": Case(
        evaluation.reliability,
        lambda rng, k: (*labels_and_probabilities(rng, k), 4, int(rng.integers(k))),
        lambda y, p, num_bins, class_id: (
            calibrated(y, p)
            and is_integer(num_bins, 1, 1_000_000)
            and (class_id is None or is_integer(class_id, 0, two_columns(p).shape[1] - 1))
        ),
        bins,
    ),
    "calibration_error": Case(
        evaluation.calibration_error,
        lambda rng, k: (*labels_and_probabilities(rng, k), 4),
        lambda y, p, num_bins: calibrated(y, p) and is_integer(num_bins, 1, 1_000_000),
        lambda y, p, num_bins: errors_of(y, p, num_bins, [None]),
    ),
    "calibration_error, classwise": Case(
        lambda y, p: evaluation.calibration_error(y, p, 4, classwise=True),
        labels_and_probabilities,
        calibrated,
        lambda y, p: errors_of(y, p, 4, range(two_columns(p).shape[1])),
    ),
    "risk_coverage_curve": Case(
        evaluation.risk_coverage_curve,
        lambda rng, k: (lambda y, d, m: (y, amounts(rng, len(y), k + 1), m))(
            *labels_and_matrix(rng, k)
        ),
        covered,
        curve,
    ),
    "risk_coverage_area": Case(
        evaluation.risk_coverage_area,
        lambda rng, k: (lambda y, d, m: (y, amounts(rng, len(y), k), m))(*vectors_alone(rng, k)),
        covered,
        lambda y, e, m: curve(y, e, m)[1].mean(),
    ),
}
