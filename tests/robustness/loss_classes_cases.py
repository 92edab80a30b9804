"""Each class of `losses`, made and called: right arguments, and what its documentation says."""

import numpy as np

from csdl_keras import losses
from tests.robustness import loss_loops as loops
from tests.robustness.costs_cases import amounts, matrix
from tests.robustness.documented import is_matrix, is_numbers, is_targets, is_weights
from tests.robustness.losses_cases import SIZE, alike, case, few, rows, shares


def weights(rng):
    return rng.integers(8, size=SIZE) / 4


def weighted(loop):
    """The sum over examples of what a loop gives for each, times its weight."""

    def total(*given):
        *rest, weight = given
        weight = 1.0 if weight is None else np.asarray(weight, "f8").reshape(-1)
        with np.errstate(all="ignore"):
            values = loop(*rest)
            return None if values is None else np.sum(weight * np.float32(values))

    return total


def of_pairs(loss, loop, arguments=rows, documented=alike):
    """Of a loss without a cost matrix."""
    return case(
        lambda c, r, w: loss(reduction="sum")(c, r, w),
        lambda rng, k: (*arguments(rng, k), weights(rng)),
        lambda c, r, w: documented(c, r) and is_weights(w, len(np.asarray(r))),
        weighted(loop),
    )


def of_labels(loss, loop, square=True, largest=np.inf):
    """Of a loss with a cost matrix, of at most `largest`, and square or with more columns."""

    def arguments(rng, k):
        columns = few(k) + (not square)
        y = rng.integers(few(k), size=SIZE)
        return matrix(rng, few(k), columns), y, amounts(rng, SIZE, columns), weights(rng)

    def documented(m, y, r, w):
        if not is_matrix(m, square) or not is_targets(y, len(np.asarray(m))):
            return False
        size = len(np.asarray(y)), np.shape(m)[1]
        right = np.max(np.asarray(m, "f8")) <= largest and is_weights(w, size[0])
        return right and is_numbers(r) and np.shape(r) == size

    return case(
        lambda m, y, r, w: loss(m, reduction="sum")(y, r, w),
        arguments,
        documented,
        weighted(lambda m, y, r: loop(np.asarray(m, "f8"), np.asarray(y).astype(int).ravel(), r)),
    )


def of_rows(loop):
    return lambda m, y, r: loop(m[y], r)


def labelled(rng, k):
    logs = amounts(rng, SIZE, few(k), few(k) + 1)
    logs[:, 0, 0] = -np.inf
    costs = np.abs(amounts(rng, SIZE, few(k) + 1))
    return np.column_stack([rng.integers(few(k), size=SIZE), costs]), logs


def is_labelled(joined, logs):
    right = is_numbers(joined) and is_numbers(logs, 3, 3)
    return right and np.shape(joined) == (len(logs), 1 + np.shape(logs)[2])


def scaled(*args, **kwargs):
    return losses.LogisticCostLoss(*args, **kwargs, cost_scale=0.125)


CASES = {
    "SOSRLoss": of_labels(losses.SOSRLoss, of_rows(loops.smooth)),
    "SOSRLoss, vectors": of_pairs(losses.SOSRLoss, loops.smooth),
    "OneSidedLoss": of_labels(losses.OneSidedLoss, of_rows(loops.one_sided)),
    "OneSidedLoss, vectors": of_pairs(losses.OneSidedLoss, loops.one_sided),
    "PoissonCostLoss": of_labels(losses.PoissonCostLoss, of_rows(loops.poisson), square=False),
    "PoissonCostLoss, vectors": of_pairs(losses.PoissonCostLoss, loops.poisson),
    "LogisticCostLoss": of_labels(
        scaled, of_rows(lambda c, u: loops.logistic(c / 8, u)), False, 8 * (1 + 1e-6)
    ),
    "LogisticCostLoss, vectors": of_pairs(
        scaled, lambda c, u: loops.logistic(np.asarray(c, "f8") / 8, u)
    ),
    "MINLoss": of_labels(
        losses.MINLoss, lambda m, y, o: loops.minimized(m[y], o, targets=np.eye(len(m))[y])
    ),
    "MINLoss, vectors": of_pairs(
        losses.MINLoss, loops.minimized, documented=lambda c, o: alike(c, o) and np.shape(c)[1] > 1
    ),
    "ObservedCostLoss": of_pairs(losses.ObservedCostLoss, loops.observed, labelled, is_labelled),
    "SquaredErrorLoss": of_pairs(
        losses.SquaredErrorLoss, loops.squared, documented=lambda x, t: alike(x, t, 2, 9)
    ),
    "ReconstructionLoss": of_pairs(
        losses.ReconstructionLoss,
        lambda x, t: loops.reconstructed(x, t, dtype="f4"),
        shares,
        lambda x, t: alike(x, t, 2, 9),
    ),
}
