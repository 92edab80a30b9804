"""Each function of `evaluation`: right arguments, and what its documentation says."""

import numpy as np

from csdl_keras import evaluation
from tests.robustness.costs_cases import floats, matrix, vectors
from tests.robustness.documented import (
    is_indices,
    is_matrix,
    is_number,
    is_vectors,
)
from tests.robustness.outcome import Case


def labels_and_matrix(rng, k):
    size = int(rng.integers(1, 7))
    return rng.integers(k, size=size), rng.integers(k + 1, size=size), matrix(rng, k, k + 1)


def vectors_alone(rng, k):
    size = int(rng.integers(1, 7))
    return vectors(rng, size, k), rng.integers(k, size=size), None


def table_of(y, m):
    """`(N, D)`: what each decision costs for each example; `None` if that is not said."""
    if m is None:
        return floats(y) if is_vectors(y) else None
    right = is_matrix(m) and is_indices(y, len(m))
    return floats(m)[np.asarray(y)] if right else None


def decided(table, d):
    return is_indices(d, table.shape[1]) and len(d) == len(table)


def scored(y, d, m):
    table = table_of(y, m)
    return table is not None and decided(table, d)


def paid(y, d, m):
    table = table_of(y, m)
    return np.array([table[n][k] for n, k in enumerate(np.asarray(d).tolist())])


def average(y, d, m):
    return sum(paid(y, d, m).tolist()) / len(d)


def constant(y, m):
    """The cost of the best constant decision."""
    return min(sum(column) for column in table_of(y, m).T.tolist())


def normalized(y, d, m):
    return sum(paid(y, d, m).tolist()) / constant(y, m)


def per_class(y, d, m):
    costs, y = paid(y, d, m), np.asarray(y)
    return np.array([costs[y == k].mean() if k in y else np.nan for k in range(len(m))])


def interval_of(result, y, d, m, *_):
    low, high = result
    costs, possible = paid(y, d, m), floats(y if m is None else m)
    least, most = possible.min() * (1 - 1e-9), possible.max() * (1 + 1e-9)
    return least <= low <= costs.mean() * (1 + 1e-9) and costs.mean() * (1 - 1e-9) <= high <= most


def difference_of(result, y, d, other, m, *_):
    means = paid(y, d, m).mean(), paid(y, other, m).mean()
    np.testing.assert_allclose(result.difference, means[0] - means[1], rtol=1e-9)
    inside = result.low <= result.high and 0 < result.p_value <= 1
    return inside and (result.ratio == means[0] / means[1] if means[1] else np.isnan(result.ratio))


def report_of(result, decisions, y, m, *_):
    rows = {row.name: row for row in result.rows}
    assert all(isinstance(text, str) and text for text in (str(result), result._repr_html_()))
    for name, d in decisions.items():
        np.testing.assert_allclose(rows[name].average_cost, average(y, d, m), rtol=1e-9)
    averages = [row.average_cost for row in result.rows]
    return averages == sorted(averages) and rows.keys() == decisions.keys()


def wrong_share(y, d, m):
    table, d = table_of(y, m), np.asarray(d)
    if m is None:
        return np.mean([row[k] > row.min() for row, k in zip(table, d, strict=True)])
    wrong = [k != label for k, label in zip(d, np.asarray(y), strict=True) if k < len(m)]
    return np.mean(wrong) if wrong else np.nan


CASES = {
    "decision_costs": Case(evaluation.decision_costs, labels_and_matrix, scored, paid),
    "average_cost": Case(evaluation.average_cost, labels_and_matrix, scored, average),
    "average_cost, vectors": Case(evaluation.average_cost, vectors_alone, scored, average),
    "normalized_cost": Case(
        evaluation.normalized_cost,
        labels_and_matrix,
        lambda y, d, m: scored(y, d, m) and constant(y, m) > 0,
        normalized,
    ),
    "savings": Case(
        evaluation.savings,
        vectors_alone,
        lambda y, d, m: scored(y, d, m) and constant(y, m) > 0,
        lambda y, d, m: 1 - normalized(y, d, m),
    ),
    "error_rate": Case(evaluation.error_rate, labels_and_matrix, scored, wrong_share),
    "error_rate, vectors": Case(evaluation.error_rate, vectors_alone, scored, wrong_share),
    "cost_per_class": Case(
        evaluation.cost_per_class,
        labels_and_matrix,
        lambda y, d, m: m is not None and scored(y, d, m),
        per_class,
    ),
    "cost_interval": Case(
        evaluation.cost_interval,
        lambda rng, k: (*labels_and_matrix(rng, k), 0.9),
        lambda y, d, m, confidence: (
            scored(y, d, m) and is_number(confidence, 0, 1) and confidence != 1
        ),
        holds=interval_of,
    ),
    "compare_costs": Case(
        evaluation.compare_costs,
        lambda rng, k: (lambda y, d, m: (y, d, np.roll(d, 1), m))(*labels_and_matrix(rng, k)),
        lambda y, d, other, m: scored(y, d, m) and scored(y, other, m),
        holds=difference_of,
    ),
    "cost_report": Case(
        evaluation.cost_report,
        lambda rng, k: (lambda y, d, m: ({"a": d, "b": np.roll(d, 1)}, y, m))(
            *labels_and_matrix(rng, k)
        ),
        lambda decisions, y, m: (
            isinstance(decisions, dict)
            and bool(decisions)
            and all(isinstance(name, str) for name in decisions)
            and all(scored(y, d, m) for d in decisions.values())
        ),
        holds=report_of,
    ),
}
