"""Tests of the Bayes decision's costs and of the decision."""

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from csdl_keras.layers import BayesDecision, Decision
from tests.support.testing import TestCase, dtype_policy, to_numpy

MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
P = np.random.default_rng(1).dirichlet(np.ones(3), 4).astype("float32")
NAN, INF = float("nan"), float("inf")


class TestBayesDecision(TestCase):
    def test_training_leaves_the_matrix(self, run_eagerly):
        model = keras.Sequential(
            [keras.Input((4,)), keras.layers.Dense(3, "softmax"), BayesDecision(MATRIX)]
        )
        assert [w.path.split("/")[-1] for w in model.non_trainable_weights] == ["cost_matrix"]
        model.compile(keras.optimizers.SGD(1.0), loss="mse")
        before = model.layers[0].get_weights()[0]
        model.fit(np.random.default_rng(0).normal(size=(6, 4)), np.zeros((6, 3)), verbose=0)
        assert np.any(before != model.layers[0].get_weights()[0])
        self.assertAllClose(model.layers[-1].cost_matrix, MATRIX)


class TestCostsOfExamples(TestCase):
    COSTS = np.random.default_rng(2).uniform(0, 9, size=(4, 3, 5))

    def make(self, **kwargs):
        return BayesDecision(num_classes=3, num_decisions=5, **kwargs)

    @pytest.mark.parametrize("costs", [COSTS, COSTS[:1], COSTS[0]], ids=["each", "one", "matrix"])
    def test_equals_a_loop(self, costs):
        expected = np.zeros((4, 5))
        for n, y, k in np.ndindex(self.COSTS.shape):
            matrix = costs if costs.ndim == 2 else costs[n % len(costs)]
            expected[n, k] += P[n, y] * matrix[y, k]
        layer = self.make()
        self.assertAllClose(layer(P, costs), expected)
        self.assertAllClose(layer(P, costs=costs), expected)
        assert layer.weights == []

    def test_costs_of_pixels_and_with_a_matrix_are_refused(self):
        with pytest.raises(ValueError, match="probabilities of shape"):
            self.make()(np.stack([P, P]), self.COSTS[:2])
        with pytest.raises(ValueError, match="without a matrix"):
            BayesDecision(MATRIX)(P, self.COSTS)

    @settings(max_examples=20)
    @given(arrays(np.float32, (4, 3, 5), elements=st.floats(width=32)))
    def test_wrong_costs_are_nan_for_their_example_alone(self, costs):
        wrong = ~(np.isfinite(costs) & (costs >= 0)).all(axis=(1, 2))
        found = to_numpy(self.make()(P, costs))
        np.testing.assert_array_equal(np.isnan(found).any(axis=1), wrong)
        assert np.isnan(found[wrong]).all()
        if wrong.any():
            assert np.isnan(to_numpy(self.make()(P, np.concatenate(costs[wrong][:1])))).all()


def decided(output, rows):
    found = Decision(output)(np.array(list(rows), "float32"))
    assert keras.backend.standardize_dtype(found.dtype) == "int32"
    return to_numpy(found).tolist()


class TestDecision:
    @pytest.mark.parametrize(
        ("output", "rows"),
        [
            ("cost", {(2.0, 1.0, 1.0): 1, (0.0, 0.0, 0.0): 0, (0.0, -0.0, 1.0): 0}),
            ("cost", {(INF, INF, INF): 0, (1.0, -INF, -INF): 1, (INF, 3.0, 3.0): 1}),
            ("probability", {(0.2, 0.4, 0.4): 1, (0.5, 0.0, 0.5): 0, (0.1, 0.1, 0.8): 2}),
            ("cost", {(NAN, 1.0, 0.0): -1, (0.4, 0.2, 0.4): 1, (0.0, 1.0, NAN): -1}),
            ("probability", {(NAN, 1.0, 0.0): -1, (0.4, 0.2, 0.4): 0, (NAN, NAN, NAN): -1}),
            ("probability", {(0.0,): 0, (0.5,): 0, (1.0,): 1, (NAN,): -1}),
            ("probability", {(0.5 - 2**-25,): 0, (0.5 + 2**-24,): 1}),
        ],
    )
    def test_lowest_index_of_the_best(self, output, rows):
        assert decided(output, rows) == list(rows.values())

    @pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16", "float64"])
    def test_tells_close_float32_costs_apart_under_any_policy(self, policy):
        with dtype_policy(policy):
            assert decided("cost", [[1.0001, 1.0], [1.0, 1.0001]]) == [1, 0]
