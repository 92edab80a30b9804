"""Solves the dual of one-sided support vector regression for all decisions at once."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from csdl_keras._utils.types import ArrayLike

Product = Callable[[np.ndarray], np.ndarray]


class DualSolution(NamedTuple):
    """Result of `solve_one_sided_dual`; objective and gap are summed over decisions."""

    coefficients: np.ndarray
    objective: float
    gap: float
    n_iter: int


def _largest_eigenvalue(product: Product, size: int) -> tuple[np.ndarray, float]:
    """Returns a unit vector `(N, 1)` near the top eigenvector, and the length of its image."""
    image = np.random.default_rng(0).normal(size=(size, 1))
    length = float(np.linalg.norm(image))
    for _ in range(30):
        vector = image / length
        image = product(vector)
        length = float(np.linalg.norm(image))
        if length == 0.0:
            break
    return vector, length


def _project(
    start: np.ndarray,
    w: np.ndarray,
    ratio: float,
    high: float,
    w_origin: np.ndarray,
    shift: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Projects `start`, a step from `origin`, onto `[0, high]` in the metric `I + ratio w w'`."""
    # `a = clip(start - m w)`, `m = ratio w'(a - origin)`: an equation in `m` for each column.
    low_end = ratio * ((np.minimum(w, 0) * high).sum(0) - w_origin)
    high_end = ratio * ((np.maximum(w, 0) * high).sum(0) - w_origin)
    tolerance = 1e-10 * ratio * (np.abs(w) * np.abs(start)).sum(0)
    for _ in range(30):  # 2 or 3 steps are usual.
        free = start - shift * w
        point = np.clip(free, 0.0, high)
        excess = shift - ratio * ((w * point).sum(0) - w_origin)
        done = np.abs(excess) <= tolerance
        if np.all(done):
            break
        low_end = np.where(excess < 0, shift, low_end)
        high_end = np.where(excess > 0, shift, high_end)
        inside = (free > 0) & (free < high)
        newton = shift - excess / (1.0 + ratio * (w * w * inside).sum(0))
        # Newton's method may oscillate between the ends forever; bisection cannot.
        within = (newton > low_end) & (newton < high_end)
        shift = np.where(done, shift, np.where(within, newton, (low_end + high_end) / 2))
    return point, shift


def solve_one_sided_dual(
    product: Product, costs: ArrayLike, penalty: float, tol: float = 1e-3, max_iter: int = 5000
) -> DualSolution:
    """Solves `min 1/2 a'Qa + (z c)'a, 0 <= a <= penalty`, the dual of `CSOSR`, for each decision.

    `Q = z z' * G`, and `product` maps float64 `v`, `(N, M)`, to `G v`. Estimates are `r = G b` with
    `b = -z a`. At any feasible `a`, the primal minus the dual objective is `sum_n penalty max(g_n,
    0) - a_n g_n`, `g = z (r - c)`, in which no term is negative. The solver stops when this gap is
    at most `tol` times the primal objective, or after `max_iter` products.

    The method is accelerated projected gradient descent that restarts when the momentum points
    uphill. Its metric is `rho u u' + L I`, where `u` is near the top eigenvector of `G` and `L` is
    the largest eigenvalue of `G - rho u u'`. The top eigenvalue of a Gaussian kernel plus one is
    tens of times the second, and in the metric `L I` it alone would limit the steps.
    """
    costs = np.asarray(costs, dtype=np.float64)
    z = np.where(costs <= costs.min(axis=1, keepdims=True), 1.0, -1.0)
    u, _ = _largest_eigenvalue(product, len(costs))
    rho = max(float((u * product(u)).sum()), 0.0)
    # With the Rayleigh quotient as rho the metric bounds G for any unit vector u.
    _, rest = _largest_eigenvalue(lambda v: product(v) - rho * u * (u * v).sum(0), len(costs))
    # Power iterations underestimate it slightly. For kernels of rank one, the rest is 0.
    lipschitz = max(1.05 * rest, 1e-4 * rho, np.finfo(np.float64).tiny)
    w = u * z

    a = np.zeros_like(costs)
    estimates = np.zeros_like(costs)
    # The point to which momentum carries a, possibly outside the box, and the estimates there.
    ahead, estimates_ahead = a, estimates
    shift, momentum = np.zeros(costs.shape[1]), np.ones(costs.shape[1])
    n_iter = 0
    while True:
        g = z * (estimates - costs)
        loss = penalty * np.maximum(g, 0.0)
        gap = float((loss - a * g).sum())
        objective = float(loss.sum() - 0.5 * (z * a * estimates).sum())
        if gap <= tol * objective or n_iter == max_iter:
            return DualSolution(-z * a, objective, gap, n_iter)
        n_iter += 1
        # The gradient of the dual is -g.
        start = ahead + z * (estimates_ahead - costs) / lipschitz
        new, shift = _project(start, w, rho / lipschitz, penalty, (w * ahead).sum(0), shift)
        new_estimates = product(-z * new)
        back, forth = ahead - new, new - a
        uphill = lipschitz * (back * forth).sum(0) + rho * (w * back).sum(0) * (w * forth).sum(0)
        restart = uphill > 0
        new_momentum = np.where(restart, 1.0, (1 + np.sqrt(1 + 4 * momentum**2)) / 2)
        weight = np.where(restart, 0.0, (momentum - 1) / new_momentum)
        ahead = new + weight * forth
        estimates_ahead = new_estimates + weight * (new_estimates - estimates)
        a, estimates, momentum = new, new_estimates, new_momentum
