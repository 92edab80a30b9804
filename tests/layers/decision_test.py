"""Tests of the Bayes decision's costs and of the decision."""

import keras
import numpy as np
import pytest

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

    def test_from_config_alone_gives_nan_until_weights_are_set(self):
        layer = BayesDecision(MATRIX)
        layer(P)
        twin = BayesDecision.from_config(layer.get_config())
        assert np.isnan(to_numpy(twin(P))).all()
        twin.set_weights(layer.get_weights())
        self.assertAllClose(twin(P), P @ MATRIX)

    def test_set_cost_matrix_reaches_a_compiled_predict(self):
        model = keras.Sequential([keras.Input((3,)), BayesDecision(MATRIX)])
        self.assertAllClose(model.predict(P, verbose=0), P @ MATRIX)
        model.layers[-1].set_cost_matrix(MATRIX.T)
        self.assertAllClose(model.predict(P, verbose=0), P @ MATRIX.T)

    @pytest.mark.parametrize(
        "layer", [BayesDecision(MATRIX.T), BayesDecision(num_classes=3, num_decisions=3)]
    )
    def test_set_cost_matrix_before_the_first_call(self, layer):
        given = MATRIX.copy()
        layer.set_cost_matrix(given)
        given[:] = 0.0
        self.assertAllClose(layer(P), P @ MATRIX)

    @pytest.mark.parametrize("matrix", [MATRIX[:, :2], MATRIX[:2, :2], -MATRIX, MATRIX + 1])
    def test_set_wrong_cost_matrix(self, matrix):
        layer = BayesDecision(MATRIX)
        layer(P)
        with pytest.raises(ValueError, match="`cost_matrix`"):
            layer.set_cost_matrix(matrix)
        self.assertAllClose(layer(P), P @ MATRIX)


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
