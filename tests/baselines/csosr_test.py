"""Tests of CSOSR: its optimum against other solvers, its bound, and what leaves it unchanged."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from csdl_keras.baselines import CSOSR
from csdl_keras.costs import cost_vectors
from tests.baselines.csosr_problems import (
    MATRIX,
    brute_force_dual,
    literal_kernel,
    literal_signs,
    literal_slacks,
    problem,
)


class TestOptimum:
    @pytest.mark.parametrize("penalty,gamma", [(0.01, 0.05), (0.3, 2.0), (10.0, 2.0)])
    def test_objective_is_that_of_a_brute_force_dual(self, penalty, gamma):
        x, costs = problem()
        model = CSOSR(penalty=penalty, gamma=gamma, tol=1e-6, max_iter=50_000).fit(x, costs)
        expected = brute_force_dual(literal_kernel(x, x, gamma), costs, penalty)
        assert model.objective_ == pytest.approx(expected, rel=1e-4)

    @pytest.mark.parametrize("penalty,dtype", [(0.1, "float64"), (10.0, "float32")])
    def test_primal_dual_and_gap_by_literal_loops(self, penalty, dtype):
        x, costs = problem(seed=2, size=40, decisions=4)
        x = x.astype(dtype)
        model = CSOSR(penalty=penalty, gamma=0.7).fit(x, costs)
        kernel = literal_kernel(x.astype(float), x.astype(float), 0.7) + 1.0
        z = literal_signs(costs)
        a = -z * model.coef_
        assert a.min() >= 0.0 and a.max() <= penalty
        np.testing.assert_allclose(model.intercept_, model.coef_.sum(axis=0))
        estimates = kernel @ model.coef_
        np.testing.assert_allclose(model.predict_costs(x), estimates, rtol=1e-4, atol=1e-4)
        square = sum(b @ kernel @ b for b in model.coef_.T)
        primal = 0.5 * square + penalty * literal_slacks(costs, estimates).sum()
        dual = -0.5 * square - (a * z * costs).sum()
        assert model.objective_ == pytest.approx(primal, rel=1e-5)
        assert model.duality_gap_ == pytest.approx(primal - dual, rel=1e-3, abs=1e-5 * primal)
        assert 0.0 <= model.duality_gap_ <= 1e-3 * model.objective_
        assert model.n_iter_ >= 1


class TestDecisions:
    @hypothesis.settings(max_examples=15)
    @hypothesis.given(
        seed=st.integers(0, 2**32 - 1),
        penalty=st.sampled_from([0.05, 20.0]),
        decisions=st.integers(2, 5),
        integers=st.booleans(),
    )
    def test_slacks_bound_the_decision(self, seed, penalty, decisions, integers):
        """c[argmin r] - min c <= sum of slacks, for any costs; c[argmin r] if min c = 0."""
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(12, 2))
        costs = 3.0 * rng.uniform(size=(12, decisions))
        costs = np.floor(costs) if integers else costs
        model = CSOSR(penalty=penalty).fit(x, costs)
        slacks = literal_slacks(costs, model.predict_costs(x)).sum(axis=1)
        paid = costs[np.arange(12), model.predict(x)]
        least = costs.min(axis=1)
        assert np.all(paid - least <= slacks + 1e-9)
        assert np.all(paid[least == 0] <= slacks[least == 0] + 1e-9)

    def test_score_is_minus_the_average_cost(self):
        x, costs = problem()
        model, weight = CSOSR().fit(x, costs), np.arange(len(x))
        paid = [row[decision] for row, decision in zip(costs, model.predict(x), strict=True)]
        assert model.score(x, costs) == pytest.approx(-np.mean(paid))
        expected = -np.average(paid, weights=weight)
        assert model.score(x, costs, sample_weight=weight) == pytest.approx(expected)


class TestInvariance:
    def fitted(self, x, costs, **arguments):
        return CSOSR(penalty=3.0, gamma=0.5, tol=1e-7, max_iter=50_000, **arguments).fit(x, costs)

    def test_order_of_examples_and_of_decisions(self):
        x, costs = problem(seed=3)
        rng = np.random.default_rng(0)
        estimates = self.fitted(x, costs).predict_costs(x)
        rows, columns = rng.permutation(len(x)), rng.permutation(3)
        other = self.fitted(x[rows], costs[rows]).predict_costs(x)
        np.testing.assert_allclose(other, estimates, atol=3e-3)
        other = self.fitted(x, costs[:, columns]).predict_costs(x)
        np.testing.assert_allclose(other, estimates[:, columns], atol=3e-3)

    def test_labels_and_their_cost_vectors(self):
        x, _ = problem()
        y = np.arange(len(x)) % 3
        by_label = CSOSR(cost_matrix=MATRIX).fit(x, y)
        by_cost = CSOSR().fit(x, cost_vectors(MATRIX, y))
        np.testing.assert_array_equal(by_label.predict_costs(x), by_cost.predict_costs(x))
        assert by_label.score(x, y) == by_cost.score(x, cost_vectors(MATRIX, y))

    def test_as_many_nystroem_features_as_examples(self):
        x, costs = problem(seed=3)
        exact = self.fitted(x, costs)
        nystroem = self.fitted(x, costs, exact_limit=0, n_components=500)
        assert nystroem.coef_.shape == (len(x), 3)
        assert nystroem.objective_ == pytest.approx(exact.objective_, rel=1e-4)
        new = np.random.default_rng(1).normal(size=(20, 2))
        np.testing.assert_allclose(nystroem.predict_costs(new), exact.predict_costs(new), atol=5e-3)

    def test_few_nystroem_features(self):
        """They are a problem of their own, solved as well, with less to fit by."""
        x, costs = problem(seed=3)
        exact = self.fitted(x, costs)
        few = self.fitted(x, costs, exact_limit=0, n_components=5)
        assert few.coef_.shape == (5, 3)
        assert few.objective_ > 1.01 * exact.objective_
        slacks = literal_slacks(costs, few.predict_costs(x)).sum()
        primal = 0.5 * ((few.coef_**2).sum() + (few.intercept_**2).sum()) + 3.0 * slacks
        assert few.objective_ == pytest.approx(primal, rel=1e-6)

    def test_float32_and_integers(self):
        x, costs = problem()
        wide = CSOSR(penalty=3.0, tol=1e-6).fit(x, costs)
        assert wide.map_.gamma == pytest.approx(1.0 / (2 * x.var()))
        narrow = CSOSR(penalty=3.0, tol=1e-5).fit(x.astype("float32"), costs.astype("float32"))
        assert narrow.objective_ == pytest.approx(wide.objective_, rel=1e-4)
        assert narrow.predict_costs(x.astype("float32")).dtype == np.float64
        whole = np.round(4 * x)
        np.testing.assert_array_equal(
            CSOSR().fit(whole.astype(int), costs).predict_costs(whole.astype(int)),
            CSOSR().fit(whole, costs).predict_costs(whole),
        )
