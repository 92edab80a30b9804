import zipfile

import keras
import numpy as np
import pytest

from csdl_keras.layers import BayesDecision
from tests.support.testing import TestCase, dtype_policy, to_numpy

MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
WITH_ABSTAIN = np.hstack([MATRIX, np.full((3, 1), 0.75)])


def random_probabilities(rows: int, classes: int) -> np.ndarray:
    return np.random.default_rng(1).dirichlet(np.ones(classes), rows).astype("float32")


def expected_costs(probabilities: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """`sum_y P[n, y] C[y, k]`, one product at a time."""
    costs = np.zeros((len(probabilities), matrix.shape[1]))
    for n in range(len(probabilities)):
        for k in range(matrix.shape[1]):
            for y in range(matrix.shape[0]):
                costs[n, k] += float(probabilities[n, y]) * matrix[y, k]
    return costs


class TestBayesDecision(TestCase):
    @pytest.mark.parametrize("matrix", [MATRIX, WITH_ABSTAIN, [[0, 1], [9, 0]]])
    def test_equals_loop(self, matrix):
        matrix = np.asarray(matrix)
        p = random_probabilities(5, len(matrix))
        costs = self.run_layer_test(lambda: BayesDecision(matrix), p, (5, matrix.shape[1]))
        self.assertAllClose(costs, expected_costs(p, matrix))

    def test_zero_one_matrix_gives_the_probability_of_error(self):
        p = random_probabilities(4, 3)
        self.assertAllClose(BayesDecision(1 - np.eye(3))(p), 1 - p)

    def test_matrix_is_a_weight_that_does_not_train(self):
        layer = BayesDecision(WITH_ABSTAIN)
        layer(random_probabilities(2, 3))
        assert layer.count_params() == 12
        assert layer.trainable_weights == []
        assert [w.path.split("/")[-1] for w in layer.non_trainable_weights] == ["cost_matrix"]
        self.assertAllClose(layer.get_weights()[0], WITH_ABSTAIN)

    def test_training_leaves_the_matrix(self):
        model = keras.Sequential(
            [keras.Input((4,)), keras.layers.Dense(3, "softmax"), BayesDecision(MATRIX)]
        )
        model.compile(keras.optimizers.SGD(1.0), loss="mse")
        x = np.random.default_rng(0).normal(size=(6, 4)).astype("float32")
        before = model.layers[0].get_weights()[0]
        model.fit(x, np.zeros((6, 3)), verbose=0)
        assert np.any(before != model.layers[0].get_weights()[0])
        self.assertAllClose(model.layers[-1].cost_matrix, MATRIX)

    def test_config_holds_the_shape_alone(self):
        config = BayesDecision(WITH_ABSTAIN).get_config()
        assert config["cost_matrix"] is None
        assert (config["num_classes"], config["num_decisions"]) == (3, 4)

    def test_from_config_alone_gives_nan_until_weights_are_set(self):
        layer = BayesDecision(MATRIX)
        p = random_probabilities(4, 3)
        expected = to_numpy(layer(p))
        twin = BayesDecision.from_config(layer.get_config())
        assert np.isnan(to_numpy(twin(p))).all()
        twin.set_weights(layer.get_weights())
        self.assertAllClose(twin(p), expected, atol=0, rtol=0)

    @pytest.mark.parametrize("built", [False, True])
    def test_set_cost_matrix(self, built):
        layer = BayesDecision(MATRIX)
        p = random_probabilities(4, 3)
        if built:
            layer(p)
        layer.set_cost_matrix(2 * MATRIX)
        self.assertAllClose(layer(p), expected_costs(p, 2 * MATRIX))

    def test_set_cost_matrix_of_a_layer_made_from_sizes(self):
        layer = BayesDecision(num_classes=3, num_decisions=4)
        layer.set_cost_matrix(WITH_ABSTAIN)
        p = random_probabilities(4, 3)
        self.assertAllClose(layer(p), expected_costs(p, WITH_ABSTAIN))

    def test_set_cost_matrix_reaches_a_compiled_predict(self):
        model = keras.Sequential([keras.Input((3,)), BayesDecision(MATRIX)])
        p = random_probabilities(4, 3)
        self.assertAllClose(model.predict(p, verbose=0), expected_costs(p, MATRIX))
        model.layers[-1].set_cost_matrix(MATRIX.T)
        self.assertAllClose(model.predict(p, verbose=0), expected_costs(p, MATRIX.T))

    @pytest.mark.parametrize("matrix", [WITH_ABSTAIN, MATRIX[:2, :2], -MATRIX, MATRIX + 1])
    def test_set_wrong_cost_matrix(self, matrix):
        layer = BayesDecision(MATRIX)
        p = random_probabilities(4, 3)
        layer(p)
        with pytest.raises(ValueError, match="`cost_matrix`"):
            layer.set_cost_matrix(matrix)
        self.assertAllClose(layer(p), expected_costs(p, MATRIX))

    def test_changing_the_array_changes_no_layer(self):
        matrix = MATRIX.copy()
        layer = BayesDecision(matrix)
        matrix[0, 1] = 99.0
        p = random_probabilities(4, 3)
        self.assertAllClose(layer(p), expected_costs(p, MATRIX))

    @pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16", "bfloat16", "float16"])
    def test_float32_under_16_bit_policies(self, policy):
        # 70000 overflows float16, 1001 needs more digits than bfloat16 has.
        matrix = np.array([[0.0, 70000.0], [1001.0, 0.0]])
        p = np.array([[0.25, 0.75], [1.0, 0.0]], "float32")
        with dtype_policy(policy):
            layer = BayesDecision(matrix)
            costs = layer(p)
        assert layer.variable_dtype == "float32"
        assert keras.backend.standardize_dtype(costs.dtype) == "float32"
        self.assertAllClose(costs, expected_costs(p, matrix))

    def test_given_dtype_is_kept(self):
        layer = BayesDecision(MATRIX, dtype="float64")
        assert layer.compute_dtype == "float64"

    def test_large_matrix_stays_out_of_the_saved_config(self, tmp_path):
        size = 2000
        matrix = np.random.default_rng(0).uniform(1, 2, (size, size)).astype("float32")
        np.fill_diagonal(matrix, 0)
        model = keras.Sequential([keras.Input((size,)), BayesDecision(matrix)])
        model.save(tmp_path / "model.keras")
        with zipfile.ZipFile(tmp_path / "model.keras") as archive:
            assert len(archive.read("config.json")) < 10_000
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        np.testing.assert_array_equal(to_numpy(loaded.layers[-1].cost_matrix), matrix)

    @pytest.mark.parametrize(
        ("kwargs", "message"),
        [
            ({}, "received None"),
            ({"num_classes": 3}, "received None"),
            ({"num_classes": 1, "num_decisions": 2}, "`num_classes`"),
            ({"num_classes": 3, "num_decisions": 2.5}, "`num_decisions`"),
            ({"cost_matrix": MATRIX[:, :2]}, "`cost_matrix`"),
            ({"cost_matrix": MATRIX - 1}, "`cost_matrix`"),
            ({"cost_matrix": MATRIX, "num_classes": 2}, "2 classes"),
            ({"cost_matrix": MATRIX, "num_decisions": 4}, "num_decisions=4"),
        ],
    )
    def test_wrong_arguments(self, kwargs, message):
        with pytest.raises(ValueError, match=message):
            BayesDecision(**kwargs)

    @pytest.mark.parametrize("shape", [(2, 4), (2, 1), (3,), (2, 3, 3)])
    def test_wrong_input_shape(self, shape):
        with pytest.raises(ValueError, match="probabilities of shape"):
            BayesDecision(MATRIX)(np.ones(shape, "float32"))
