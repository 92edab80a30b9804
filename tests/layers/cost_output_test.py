import keras
import numpy as np
import pytest

from csdl_keras.layers import CostOutput
from tests.support.testing import TestCase, dtype_policy

X = np.random.default_rng(0).normal(size=(4, 5)).astype("float32")


class TestCostOutput(TestCase):
    def test_is_a_linear_dense_layer(self):
        layer = CostOutput(3, bias_initializer="ones")
        outputs = layer(X)
        kernel, bias = layer.get_weights()
        self.assertAllClose(outputs, X @ kernel + bias)
        assert layer.count_params() == 5 * 3 + 3

    def test_contract(self):
        self.run_layer_test(lambda: CostOutput(3, name="cost"), X, (4, 3))

    def test_arguments_of_dense(self):
        layer = CostOutput(3, use_bias=False, kernel_regularizer=keras.regularizers.L2(0.5))
        layer(X)
        (kernel,) = layer.get_weights()
        self.assertAllClose(layer.losses[0], 0.5 * np.sum(kernel**2))
        assert self.run_config_round_trip(layer).use_bias is False

    @pytest.mark.parametrize("activation", [None, "linear"])
    def test_linear_activation(self, activation):
        assert CostOutput(2, activation=activation).activation is keras.activations.linear

    @pytest.mark.parametrize("activation", ["relu", "softmax", keras.activations.sigmoid])
    def test_other_activation(self, activation):
        with pytest.raises(ValueError, match="activation"):
            CostOutput(2, activation=activation)

    @pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16", "bfloat16"])
    def test_float32_under_16_bit_policies(self, policy):
        with dtype_policy(policy):
            layer = CostOutput(3)
            outputs = layer(X)
        kernel, bias = layer.get_weights()
        assert kernel.dtype == "float32"
        self.assertAllClose(outputs, X @ kernel + bias)
        assert self.run_config_round_trip(layer).compute_dtype == "float32"

    def test_given_dtype_is_kept(self):
        assert CostOutput(3, dtype="mixed_bfloat16").compute_dtype == "bfloat16"
