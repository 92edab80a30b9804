import keras
import numpy as np
import pytest

from csdl_keras.layers import ClassProbabilities
from tests.support.testing import TestCase, dtype_policy, to_numpy

NAN = float("nan")


def softmax(row: np.ndarray) -> np.ndarray:
    """Of one row, in float64."""
    powers = np.exp(np.asarray(row, "float64") - max(row))
    return powers / powers.sum()


class TestClassProbabilities(TestCase):
    @pytest.mark.parametrize("from_logits", [False, True])
    @pytest.mark.parametrize("width", [1, 2, 4])
    def test_contract(self, from_logits, width):
        p = np.full((3, width), 1 / max(width, 2), "float32")
        self.run_layer_test(lambda: ClassProbabilities(from_logits), p, (3, max(width, 2)))

    def test_probabilities_pass_unchanged(self):
        p = np.random.default_rng(0).dirichlet(np.ones(4), 6).astype("float32")
        self.assertAllClose(ClassProbabilities()(p), p, atol=0, rtol=0)

    def test_one_column_becomes_two(self):
        p = np.array([[0.0], [0.2], [1.0]], "float32")
        expected = np.array([[1.0, 0.0], [0.8, 0.2], [0.0, 1.0]], "float32")
        self.assertAllClose(ClassProbabilities()(p), expected)

    def test_logits(self):
        logits = np.array([[0.0, 1.0, -2.0], [500.0, -500.0, 0.0]], "float32")
        expected = np.array([softmax(row) for row in logits])
        self.assertAllClose(ClassProbabilities(from_logits=True)(logits), expected)

    def test_one_logit(self):
        logits = np.array([[-500.0], [-1.5], [0.0], [3.0], [500.0]], "float32")
        expected = np.array([softmax([0.0, float(row[0])]) for row in logits])
        self.assertAllClose(ClassProbabilities(from_logits=True)(logits), expected)

    @pytest.mark.parametrize(
        "row",
        [
            [0.5, 0.6],
            [0.2, 0.2],
            [1.5, -0.5],
            [-0.001, 1.001],
            [0.0, 0.0],
            [NAN, 0.5],
            [float("inf"), 0.0],
            [float("inf"), -float("inf")],
        ],
    )
    def test_bad_row_becomes_nan_and_no_other(self, row):
        x = np.array([[0.3, 0.7], row, [1.0, 0.0]], "float32")
        outputs = to_numpy(ClassProbabilities()(x))
        assert np.isnan(outputs[1]).all()
        np.testing.assert_array_equal(outputs[[0, 2]], x[[0, 2]])

    @pytest.mark.parametrize("p", [-0.2, 1.2, NAN])
    def test_bad_single_probability(self, p):
        outputs = to_numpy(ClassProbabilities()(np.array([[p], [0.5]], "float32")))
        np.testing.assert_array_equal(np.isnan(outputs), [[True, True], [False, False]])

    def test_softmax_rounded_to_bfloat16_is_a_distribution(self):
        logits = np.random.default_rng(0).normal(size=(50, 100)).astype("float32")
        rounded = keras.ops.cast(keras.ops.softmax(logits), "bfloat16")
        self.assertFinite(ClassProbabilities()(rounded))

    def test_float32_under_16_bit_policies(self):
        p = np.array([[0.1001]], "float32")
        with dtype_policy("mixed_bfloat16"):
            outputs = ClassProbabilities()(p)
        assert keras.backend.standardize_dtype(outputs.dtype) == "float32"
        self.assertAllClose(outputs, np.array([[0.8999, 0.1001]]), atol=1e-6)

    @pytest.mark.parametrize("shape", [(3,), (3, 2, 2)])
    def test_wrong_shape(self, shape):
        with pytest.raises(ValueError, match="shape"):
            ClassProbabilities()(np.ones(shape, "float32"))

    @pytest.mark.parametrize("from_logits", [None, 1, "yes"])
    def test_wrong_argument(self, from_logits):
        with pytest.raises(ValueError, match="`from_logits`"):
            ClassProbabilities(from_logits)
