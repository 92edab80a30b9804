import numpy as np

from csdl_keras import adjust_priors
from csdl_keras.evaluation import estimate_priors

OLD, NEW = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])


def drawn(priors, number, rng, distance=3.0):
    """Features of examples, normal around a mean for each class, and their classes."""
    labels = rng.choice(len(priors), size=number, p=priors)
    means = distance * np.eye(len(priors))
    return means[labels] + rng.normal(size=(number, len(priors))), labels


def posteriors(x, priors, distance=3.0):
    """Bayes' theorem, with the densities that `drawn` draws from."""
    densities = np.exp(distance * (x - distance / 2)) * priors
    return densities / densities.sum(axis=1, keepdims=True)


def estimated(seed, number=400, new=NEW, distance=3.0):
    x, _ = drawn(new, number, np.random.default_rng(seed), distance)
    return estimate_priors(posteriors(x, OLD, distance), OLD)


class TestEstimate:
    def test_equals_a_loop_of_the_steps(self):
        rng = np.random.default_rng(0)
        rows = posteriors(drawn(NEW, 60, rng)[0], OLD)
        shares = OLD.copy()
        for _ in range(500):
            adjusted = [row * shares / OLD / sum(row * shares / OLD) for row in rows]
            shares = np.mean(adjusted, axis=0)
        found = estimate_priors(rows, OLD * 7)
        np.testing.assert_allclose(found.priors, shares, atol=1e-3)
        # At the maximum, the adjusted probabilities have the shares as their mean.
        means = adjust_priors(rows, OLD, found.priors).mean(axis=0)
        np.testing.assert_allclose(means, found.priors, atol=1e-3)

    def test_standard_errors_cover(self):
        """The truth lies within 1.96 standard errors in 95 % of sets of examples."""
        estimates = [estimated(seed, distance=2.0) for seed in range(150)]
        inside = [np.abs(e.priors - NEW) < 1.96 * e.standard_errors for e in estimates]
        assert 0.9 < np.mean(inside) < 0.99
        spread = np.std([e.priors for e in estimates], axis=0)
        errors = np.mean([e.standard_errors for e in estimates], axis=0)
        np.testing.assert_allclose(errors, spread, rtol=0.2)
