"""Each function of `losses`: right arguments, and what its documentation says."""

import numpy as np

from csdl_keras import losses
from tests.robustness import loss_loops as loops
from tests.robustness.costs_cases import amounts, vectors
from tests.robustness.documented import array_of_numbers, is_number, is_numbers
from tests.robustness.outcome import Case
from tests.support.testing import to_numpy

SIZE = 4


def few(k):
    """Two or three classes, since JAX compiles for each shape; or as many as are asked for."""
    return k if k > 5 else 2 + k % 2


def rows(rng, k):
    return vectors(rng, SIZE, few(k)), amounts(rng, SIZE, few(k))


def shares(rng, k):
    """Two tables in [0, 1]."""
    return rng.integers(1, 8, size=(2, SIZE, few(k))) / 8


def priors(rng, k):
    total = max(16, 1 << k.bit_length())
    return (1 + rng.multinomial(total - k, np.full(k, 1 / k))) / total


def alike(first, second, least=2, most=2):
    same = is_numbers(first, least, most) and is_numbers(second)
    return same and np.shape(first) == np.shape(second)


def is_prior(p, k):
    right = is_numbers(p) and np.shape(p) == (k,)
    p = np.asarray(p).astype("f8") if right else np.array([1.0])
    return min(p) >= 0 and max(p) < 1 and abs(sum(p) - 1) < 1e-5


def marks_classes(t):
    return all(sorted(row) == [0] * (len(row) - 1) + [1] for row in np.asarray(t).tolist())


def agrees(result, expected, given, rtol=1e-3):
    """The numbers of the loop, or beyond those of float32 whatever shows that."""
    if expected is None:
        return True
    with np.errstate(over="ignore"):
        result, expected = np.float32(result), np.float32(expected)
    near = np.isclose(result, expected, rtol=rtol, atol=1e-3, equal_nan=True)
    sizes = np.hstack([np.abs(x).ravel() for x in given if is_numbers(x)])
    beyond = np.any(np.isfinite(sizes) & (sizes > 1e30)) & ~np.isfinite(result)
    return np.shape(result) == np.shape(expected) and bool(np.all(near | beyond))


def case(function, arguments, documented, loop, rtol=1e-3):
    def holds(result, *given):
        given = [array_of_numbers(x) if is_numbers(x) else x for x in given]
        return agrees(result, loop(*given), given, rtol)

    return Case(
        lambda *given: to_numpy(function(*given)),
        arguments,
        documented,
        holds=holds,
        tolerance=1e-4,
    )


CASES = {
    "expected_cost": case(
        losses.expected_cost,
        lambda rng, k: (None, amounts(rng, SIZE, few(k))),
        lambda y, r: is_numbers(r, 2, 2),
        lambda y, r: np.asarray(r, "f8").min(axis=1),
    ),
    "sosr": case(
        losses.sosr,
        lambda rng, k: (*rows(rng, k), 2.0),
        lambda c, r, alpha: alike(c, r, 1, 9) and is_number(alpha, 0, 1e6),
        loops.smooth,
    ),
    "sosr, one example": case(
        losses.sosr,
        lambda rng, k: (vectors(rng, few(k)), amounts(rng, few(k))),
        lambda c, r: alike(c, r, 1, 9),
        loops.smooth,
    ),
    "one_sided": case(losses.one_sided, rows, lambda c, r: alike(c, r, 1, 9), loops.one_sided),
    "logistic_cost": case(
        losses.logistic_cost,
        lambda rng, k: (shares(rng, k)[0], amounts(rng, SIZE, few(k))),
        alike,
        loops.logistic,
    ),
    "poisson_cost": case(losses.poisson_cost, rows, alike, loops.poisson),
    "min_loss": case(
        losses.min_loss,
        lambda rng, k: (
            *shares(rng, k),
            priors(rng, few(k)),
            np.eye(few(k))[rng.integers(few(k), size=SIZE)],
        ),
        lambda c, o, p, t: (
            alike(c, o)
            and np.shape(c)[1] >= 2
            and (p is None or is_prior(p, np.shape(c)[1]))
            and (t is None or (alike(c, t) and marks_classes(t)))
        ),
        loops.minimized,
    ),
    "reconstruction": case(
        losses.reconstruction,
        shares,
        lambda x, t: alike(x, t, 2, 9),
        loops.reconstructed,
        rtol=0.02,  # float32 holds one digit of 1 - 1e-7
    ),
    "reconstruction, logits": case(
        losses.reconstruction,
        lambda rng, k: (shares(rng, k)[0], amounts(rng, SIZE, few(k)), True),
        lambda x, t, logits: alike(x, t, 2, 9) and isinstance(logits, bool),
        loops.reconstructed,
        rtol=0.02,
    ),
}
