import numpy as np
import pytest

from csdl_keras import adjust_priors
from csdl_keras.evaluation import estimate_priors

OLD, NEW = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])


def drawn(priors, number, rng, distance=3.0, noise=1.0):
    """Features of examples, normal around a mean for each class, and their classes."""
    labels = rng.choice(len(priors), size=number, p=priors)
    means = distance * np.eye(len(priors))
    return means[labels] + noise * rng.normal(size=(number, len(priors))), labels


def posteriors(x, priors, distance=3.0, sharpness=1.0):
    """Bayes' theorem, with the densities that `drawn` draws from; sharper than right above 1."""
    densities = np.exp(distance * (x - distance / 2)) * priors
    powers = densities**sharpness
    return powers / powers.sum(axis=1, keepdims=True)


def estimated(seed, number=400, new=NEW, old=OLD, sharpness=1.0, distance=3.0, noise=1.0):
    rng = np.random.default_rng(seed)
    x, _ = drawn(new, number, rng, distance, noise)
    known, labels = drawn(old, number, rng, distance)
    rows, reference = (posteriors(each, old, distance, sharpness) for each in (x, known))
    return estimate_priors(rows, old, (reference, labels))


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


class TestDoubts:
    def test_right_estimates_are_seldom_doubted(self):
        estimates = [estimated(seed) for seed in range(100)]
        assert np.mean([not e.trusted for e in estimates]) <= 0.03

    @pytest.mark.parametrize(
        "wrong,share,match",
        [
            ({"sharpness": 2.0}, 0.95, "not calibrated"),
            ({"noise": 1.7, "number": 1500}, 0.9, "more than class frequencies changed"),
            ({"number": 40, "new": np.array([0.01, 0.02, 0.97])}, 0.5, "uncertain"),
            ({"distance": 0.1}, 1.0, "do not tell these classes apart"),
        ],
    )
    def test_what_is_wrong_is_found(self, wrong, share, match):
        doubts = [estimated(seed, **wrong).doubts for seed in range(20)]
        assert np.mean([match in " ".join(each) for each in doubts]) >= share

    def test_a_reference_of_other_frequencies(self):
        rng = np.random.default_rng(0)
        x, labels = drawn(NEW, 400, rng)
        rows = posteriors(x, OLD)
        assert "not calibrated" in " ".join(estimate_priors(rows, OLD, (rows, labels)).doubts)

    def test_no_reference_or_a_small_one(self):
        rng = np.random.default_rng(0)
        rows = posteriors(drawn(NEW, 400, rng)[0], OLD)
        found = estimate_priors(rows, OLD)
        assert not found.trusted and "Without a labelled `reference`" in found.doubts[0]
        few, labels = drawn(OLD, 12, rng)
        found = estimate_priors(rows, OLD, (posteriors(few, OLD), labels))
        assert "of `reference` with" in found.doubts[-1] and "too few" in found.doubts[-1]
