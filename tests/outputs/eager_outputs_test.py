"""Tests that losses and metrics that are called on their own take no outputs for another kind."""

import keras
import numpy as np
import pytest
from keras import ops

import csdl_keras as csdl
from csdl_keras.losses import LogisticCostLoss, OneSidedLoss, PoissonCostLoss
from tests.outputs.fit_outputs_test import LABELS, TORCH, C, refused
from tests.support.testing import TestCase

P = np.random.default_rng(1).dirichlet(np.ones(3), 12).astype("float32")
LOSSES = (csdl.SOSRLoss, OneSidedLoss, PoissonCostLoss, LogisticCostLoss)
METRICS = (csdl.AverageCost, csdl.NormalizedCost, csdl.Savings)
TWO = np.array([[0.0, 1.0], [0.25, 0.0]])


@pytest.mark.parametrize("tensor", [np.asarray, ops.convert_to_tensor])
class TestEager(TestCase):
    @pytest.mark.parametrize("make", METRICS)
    def test_metrics(self, make, tensor):
        for matrix, output, labels, outputs, match in [
            (C, None, LABELS, P, "which are probabilities"),
            (C, "cost", LABELS, P, "which are probabilities"),
            (C, "probability", LABELS, np.log(P), "logits are neither"),
            (TWO, None, LABELS % 2, P[:, :1], "one column"),
            (TWO, "probability", LABELS % 2, 3 * P[:, :1] - 1, "rows of numbers in"),
        ]:
            with refused(match):
                make(matrix, output=output).update_state(labels, tensor(outputs))
        make(C).update_state(LABELS, tensor(1.2 * P))  # Costs may be close to distributions.
        metric = make(TWO, output="probability")
        metric.update_state(LABELS % 2, tensor(P[:, :1]))
        assert np.isfinite(float(metric.result()))

    @pytest.mark.parametrize("make", METRICS)
    def test_a_refused_batch_adds_nothing(self, make, tensor):
        metric = make(C)
        metric.update_state(LABELS, tensor(C[LABELS]))
        before = float(metric.result())
        if tensor is np.asarray:  # Tensors are checked once, until the next reset.
            with refused("which are probabilities"):
                metric.update_state(LABELS, P)
            assert float(metric.result()) == before
        metric.reset_state()
        with refused("rows that sum to 1"):
            metric.update_state(LABELS, tensor(P))

    @pytest.mark.parametrize("make", LOSSES)
    def test_losses(self, make, tensor):
        for loss, y in ((make(C), LABELS), (make(), C[LABELS])):
            with refused("rows that sum to 1"):
                loss(y, tensor(P))
            assert np.isfinite(float(loss(y, tensor(2 * P))))
        with refused("which are probabilities"):
            csdl.losses.expected_cost(None, tensor(P))


@pytest.mark.skipif(TORCH, reason="PyTorch's tensors have values")
@pytest.mark.parametrize("make", LOSSES)
def test_a_compiled_function_returns_nan(make):
    if keras.backend.backend() == "jax":
        from jax import jit
    else:
        from tensorflow import function as jit
    run = jit(lambda p: make(C)(LABELS, p))
    assert np.isnan(float(run(ops.convert_to_tensor(P))))
    assert np.isfinite(float(run(ops.convert_to_tensor(2 * P))))
