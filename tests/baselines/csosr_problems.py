"""Problems of CSOSR, and their optima by literal loops and other solvers."""

import numpy as np
from scipy.optimize import minimize

MATRIX = np.array([[0.0, 0.2, 1.0], [0.6, 0.0, 0.1], [0.3, 0.9, 0.0]])


def problem(seed=0, size=30, decisions=3, features=2):
    """Example-dependent costs with ties, smallest costs above 0 and a row of equal costs."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(size, features))
    costs = rng.uniform(size=(size, decisions)) + 0.5 * np.abs(x[:, :1])
    costs[: size // 2] -= costs[: size // 2].min(axis=1, keepdims=True)
    costs[0] = 0.7
    costs[1, 0] = costs[1, -1] = 0.0
    return x, costs


def literal_kernel(x, other, gamma):
    return np.array([[np.exp(-gamma * sum((a - b) ** 2)) for b in other] for a in x])


def literal_signs(costs):
    return np.array([[1.0 if cost == min(row) else -1.0 for cost in row] for row in costs])


def literal_slacks(costs, estimates):
    z = literal_signs(costs)
    slacks = np.zeros_like(costs)
    for n in range(len(costs)):
        for k in range(costs.shape[1]):
            slacks[n, k] = max(z[n, k] * (estimates[n, k] - costs[n, k]), 0.0)
    return slacks


def brute_force_dual(kernel, costs, penalty):
    """The optimum of the dual by L-BFGS-B, a decision at a time; the primal objective."""
    z = literal_signs(costs)
    total = 0.0
    for k in range(costs.shape[1]):
        q = np.outer(z[:, k], z[:, k]) * (kernel + 1.0)
        p = z[:, k] * costs[:, k]

        def value(a, q=q, p=p):
            return 0.5 * a @ q @ a + p @ a, q @ a + p

        bounds = [(0.0, penalty)] * len(p)
        options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 50_000, "maxfun": 100_000}
        start = np.zeros(len(p))
        total -= minimize(value, start, jac=True, bounds=bounds, options=options).fun
    return total
