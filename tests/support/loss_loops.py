"""The equations of `losses`, one entry after the other, in float64."""

import functools

import numpy as np


def by_example(function):
    """Of a function of rows, that of tables; NaN where costs, the first, are not finite."""

    @functools.wraps(function)
    def loop(costs, estimates, *rest):
        costs, estimates = np.asarray(costs, "f8"), np.asarray(estimates, "f8")
        tables = [x.reshape(-1, x.shape[-1]) for x in (costs, estimates)]
        pairs = zip(*tables, strict=True)
        with np.errstate(all="ignore"):
            values = [function(c, r, *rest) if np.isfinite(c).all() else np.nan for c, r in pairs]
        return np.reshape(values, costs.shape[:-1])

    return loop


def softplus(u):
    return np.logaddexp(0.0, u)


def gaps(c, r):
    return [r[k] - c[k] if c[k] == min(c) else c[k] - r[k] for k in range(len(c))]


@by_example
def smooth(c, r, alpha=1.0):
    return sum(softplus(alpha * gap) / alpha for gap in gaps(c, r))


@by_example
def one_sided(c, r):
    return sum(np.nan if np.isnan(gap) else max(gap, 0.0) for gap in gaps(c, r))


@by_example
def logistic(c, u):
    if not all(0 <= cost <= 1 + 1e-6 for cost in c):
        return np.nan
    return sum(softplus(u[k]) - (c[k] * u[k] if c[k] else 0 * u[k]) for k in range(len(c)))


@by_example
def poisson(c, u):
    if min(c) < 0:
        return np.nan
    own = [cost * np.log(cost) - cost if cost else 0.0 for cost in c]
    return sum(np.exp(u[k]) - c[k] * u[k] + own[k] for k in range(len(c)))


@by_example
def _minimized(c, both, priors):
    o, target = both[: len(c)], both[len(c) :]
    total = 0.0
    for i in range(len(c)):
        factor = c[i]
        if target[i]:
            factor = sum(priors[j] * c[j] for j in range(len(c)) if j != i) / (1 - priors[i])
        total += ((target[i] - o[i]) * factor) ** 2
    return total / 2


def minimized(c, o, priors=None, targets=None):
    """Kukar and Kononenko's; without targets the cheapest class, the first among equals."""
    c, o = np.asarray(c, "f8"), np.asarray(o, "f8")
    classes = c.shape[1]
    priors = np.full(classes, 1 / classes) if priors is None else np.asarray(priors, "f8")
    if targets is None:
        targets = np.eye(classes)[c.argmin(axis=1)]
    both = np.hstack([o, np.asarray(targets, "f8")])
    return np.array([_minimized(c[n], both[n], priors) for n in range(len(c))])


def _sums(function, x, t):
    x, t = np.asarray(x, "f8"), np.asarray(t, "f8")
    with np.errstate(all="ignore"):
        return np.array([np.sum(function(x[n], t[n])) for n in range(len(x))])


def squared(x, t):
    return _sums(lambda x, t: (x - t) ** 2, x, t)


def reconstructed(x, t, from_logits=False, dtype="f8"):
    """`None` for inputs outside [0, 1], of which it says nothing."""
    inputs = np.asarray(x, "f8")
    if np.any((inputs < 0) | (inputs > 1)):
        return None
    if from_logits:
        return _sums(lambda x, u: softplus(u) - x * u, x, t)
    t = np.clip(np.asarray(t, dtype), np.array(1e-7, dtype), np.array(1 - 1e-7, dtype))
    return _sums(lambda x, t: -(x * np.log(t) + (1 - x) * np.log(1 - t)), x, t)


def observed(labelled, logs):
    """Of each example the costs of its class, but those known to be 0."""
    labelled, logs = np.asarray(labelled, "f8"), np.asarray(logs, "f8")
    values = []
    for (label, *costs), table in zip(labelled, logs, strict=True):
        finite = not (np.isnan(table).any() or (table == np.inf).any())
        if label not in range(len(table)) or not finite:
            values.append(np.nan)
            continue
        known = table[int(label)] < -1.5e4
        values.append(poisson(np.where(known, 0, costs), np.where(known, -1e4, table[int(label)])))
    return np.array(values)
