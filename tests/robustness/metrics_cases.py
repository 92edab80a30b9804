"""Each metric, made, updated and read: right arguments, and what its documentation says."""

import numpy as np

from csdl_keras import metrics
from tests.robustness.costs_cases import amounts, matrix, vectors
from tests.robustness.documented import (
    is_integer,
    is_matrix,
    is_numbers,
    is_targets,
    is_weights,
)
from tests.robustness.losses_cases import SIZE, alike, case, few


def weights(rng):
    return rng.integers(1, 8, size=SIZE) / 4


def labelled(rng, k):
    """A matrix with a decision that is no class, labels, estimates and weights."""
    k = few(k)
    labels = rng.integers(k, size=SIZE)
    return matrix(rng, k, k + 1), labels, amounts(rng, SIZE, k + 1), weights(rng)


def all_distributions(p, tolerance=None):
    """Whether all rows without NaN sum to 1; `None` if there is none."""
    p = np.asarray(p)
    tolerance = tolerance or (1e-2 if p.dtype.itemsize == 2 else 1e-4)
    known = [row for row in p.astype("f8") if not np.isnan(row).any()]
    with np.errstate(all="ignore"):
        return (
            all(abs(sum(row) - 1) <= tolerance and min(row) >= 0 for row in known)
            if known
            else None
        )


def are_costs(r):
    """Outputs of unknown kind are refused where they are probabilities."""
    return np.shape(r)[1] > 1 and all_distributions(r) is not True


def are_probabilities(p):
    return all_distributions(p, 1e-2) is not False


def is_labelled(m, y, r, w, columns=None, kind=are_costs):
    if not is_matrix(m) or not is_targets(y, len(np.asarray(m))):
        return False
    size = len(np.asarray(y)), columns or np.shape(m)[1]
    return is_numbers(r) and np.shape(r) == size and is_weights(w, size[0]) and kind(r)


def pairs(rng, k):
    return vectors(rng, SIZE, few(k)), amounts(rng, SIZE, few(k)), weights(rng)


def are_pairs(c, r, w):
    return alike(c, r) and is_weights(w, len(np.asarray(r))) and are_costs(r)


def are_targets(y, r, w):
    """A column of targets is of labels."""
    if not is_numbers(y) or not is_numbers(r, 2, 2):
        return False
    size = len(np.asarray(r))
    right = np.shape(y) in ((size,), (size, 1), np.shape(r)) and is_weights(w, size)
    return right and are_costs(r)


def distributions(rng, k):
    m, y, _, w = labelled(rng, k)
    return m, y, rng.multinomial(8, np.full(len(m), 1 / len(m)), size=SIZE) / 8, w


def each(weight, number):
    return np.ones(number) if weight is None else np.asarray(weight, "f8").reshape(-1)


def total(scores, weight):
    weight = each(weight, len(scores))
    with np.errstate(all="ignore"):
        return sum(np.float32(scores[n]) * np.float32(weight[n]) for n in range(len(scores)))


def mean(scores, weight):
    """The weighted mean, 0 of nothing."""
    weights = sum(each(weight, len(scores)))
    with np.errstate(all="ignore"):
        return total(scores, weight) / weights if weights else 0.0


def decided(row):
    """The first of the lowest, or `None` if there is NaN."""
    return None if np.isnan(row).any() else row.tolist().index(min(row))


def paid(costs, estimates):
    """What is paid for each example; NaN if an estimate or a cost is."""
    scores = []
    for c, r in zip(np.asarray(costs, "f8"), np.asarray(estimates, "f8"), strict=True):
        unknown = np.isnan(r).any() or np.isnan(c).any()
        scores.append(np.nan if unknown else c[decided(r)])
    return scores


def rows(m, y):
    return np.asarray(m, "f8")[np.asarray(y).astype(int).reshape(-1)]


def expected(m, p):
    """Of rows that are distributions; NaN for others."""
    p = np.asarray(p, "f8")
    proper = (np.abs(p.sum(axis=1) - 1) <= 1e-2) & (p.min(axis=1) >= 0)
    with np.errstate(all="ignore"):
        return np.where(proper[:, None], p @ np.asarray(m, "f8"), np.nan)


def normalized(costs, r, w):
    constant = [total([row[k] for row in costs], w) for k in range(costs.shape[1])]
    with np.errstate(all="ignore"):
        return total(paid(costs, r), w) / np.min(constant)


def right(y, r):
    """1 for the label, or for a decision that no other one undercuts."""
    scores = []
    for target, row in zip(np.asarray(y, "f8"), np.asarray(r, "f8"), strict=True):
        if np.isnan(row).any() or np.isnan(target).any():
            scores.append(np.nan)
        elif target.size == 1:
            known = target.item() in range(len(row))
            scores.append(float(decided(row) == target.item()) if known else np.nan)
        else:
            scores.append(float(target[decided(row)] == min(target)))
    return scores


def metric(make, arguments, documented, loop):
    """Of a metric that is made of all arguments but the last three."""

    def result(*given):
        *own, y, r, w = given
        made = make(*own)
        made.update_state(y, r, w)
        return made.result()

    return case(result, arguments, documented, loop)


def bayes(m):
    return metrics.AverageCost(m, output="probability", bayes=True)


CASES = {
    "AverageCost": metric(
        metrics.AverageCost, labelled, is_labelled, lambda m, y, r, w: mean(paid(rows(m, y), r), w)
    ),
    "AverageCost, vectors": metric(
        metrics.AverageCost, pairs, are_pairs, lambda c, r, w: mean(paid(c, r), w)
    ),
    "AverageCost, bayes": metric(
        bayes,
        distributions,
        lambda m, y, p, w: (
            is_matrix(m) and is_labelled(m, y, p, w, len(np.asarray(m)), are_probabilities)
        ),
        lambda m, y, p, w: mean(paid(rows(m, y), expected(m, p)), w),
    ),
    "AverageCost, class": metric(
        lambda m, k: metrics.AverageCost(m, class_id=k),
        lambda rng, k: (lambda m, *rest: (m, 1, *rest))(*labelled(rng, k)),
        lambda m, k, *rest: (
            is_labelled(m, *rest) and (k is None or is_integer(k, 0, len(np.asarray(m)) - 1))
        ),
        lambda m, k, y, r, w: mean(
            paid(rows(m, y), r),
            each(w, len(y)) * (1.0 if k is None else np.reshape(y, -1) == k),
        ),
    ),
    "DecisionAccuracy": metric(
        metrics.DecisionAccuracy,
        lambda rng, k: labelled(rng, k)[1:],
        are_targets,
        lambda y, r, w: mean(right(y, r), w),
    ),
    "DecisionAccuracy, vectors": metric(
        metrics.DecisionAccuracy, pairs, are_targets, lambda c, r, w: mean(right(c, r), w)
    ),
    "NormalizedCost": metric(
        metrics.NormalizedCost,
        labelled,
        is_labelled,
        lambda m, y, r, w: normalized(rows(m, y), r, w),
    ),
    "NormalizedCost, vectors": metric(
        lambda d: metrics.NormalizedCost(num_decisions=d),
        lambda rng, k: (few(k), *pairs(rng, k)),
        lambda d, c, r, w: is_integer(d, 1) and are_pairs(c, r, w) and d == np.shape(c)[1],
        lambda d, c, r, w: normalized(np.asarray(c, "f8"), r, w),
    ),
    "Savings": metric(
        metrics.Savings,
        labelled,
        is_labelled,
        lambda m, y, r, w: 1 - normalized(rows(m, y), r, w),
    ),
}
