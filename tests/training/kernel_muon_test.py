"""The optimizer of convolutional networks, against a literal loop of its equations."""

import keras
import numpy as np
import pytest

from csdl_keras.training.kernel_muon import KernelMuon


def orthogonalised(matrix, steps=5):
    """Five quintic Newton-Schulz iterations, on the orientation that has fewer rows."""
    tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.T if tall else matrix
    x = x / np.linalg.norm(x)
    for _ in range(steps):
        a = x @ x.T
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x.T if tall else x


@pytest.mark.parametrize("size", (1, 3))
def test_kernels_follow_muon_and_all_else_adamw(size):
    rng = np.random.default_rng(0)
    kernel, bias = rng.normal(size=(size, size, 2, 5)), rng.normal(size=5)
    inputs = 2 * size**2
    variables = [keras.Variable(it.astype("float32")) for it in (kernel, bias)]
    optimizer = KernelMuon(0.1, adam_lr_ratio=0.2, weight_decay=0.01, adam_weight_decay=0.01)
    momentum, mean, square = np.zeros((inputs, 5)), np.zeros(5), np.zeros(5)
    for step in (1, 2, 3):
        gradients = [rng.normal(size=it.shape).astype("float32") for it in variables]
        optimizer.apply(list(map(keras.ops.convert_to_tensor, gradients)), variables)
        kernel, bias = kernel * (1 - 0.1 * 0.01), bias * (1 - 0.1 * 0.01)
        rows, bias_gradient = gradients[0].reshape(inputs, 5), gradients[1]
        momentum = 0.95 * momentum + rows
        update = orthogonalised(rows + 0.95 * momentum) * 0.2 * np.sqrt(max(inputs, 5))
        kernel = kernel - 0.1 * update.reshape(kernel.shape)
        mean, square = 0.9 * mean + 0.1 * bias_gradient, 0.999 * square + 0.001 * bias_gradient**2
        corrected = mean / (1 - 0.9**step), np.sqrt(square / (1 - 0.999**step))
        bias = bias - 0.1 * 0.2 * corrected[0] / corrected[1]
        for variable, expected in zip(variables, (kernel, bias), strict=True):
            found = keras.ops.convert_to_numpy(variable)
            np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5)


def test_configuration_round_trip():
    optimizer = KernelMuon(0.1, adam_lr_ratio=0.2)
    twin = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert type(twin) is KernelMuon and twin.get_config() == optimizer.get_config()
