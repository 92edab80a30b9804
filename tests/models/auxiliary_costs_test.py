"""Tests of auxiliary outputs: where they are added, their loss, and that they are dropped."""

import keras
import numpy as np
import pytest
from keras import layers

from csdl_keras import SOSRLoss, decide
from csdl_keras.losses import sosr
from csdl_keras.models import auxiliary_costs, caffe_cifar10, mlp
from tests.support.small_models import BUILDERS, FEATURES, inputs
from tests.support.testing import TestCase, to_numpy

C = np.array([[0.0, 0.25, 1.0], [1.0, 0.0, 0.5], [0.125, 0.75, 0.0]])
X = inputs(12)
LABELS = np.arange(12) % 3

pytestmark = pytest.mark.usefixtures("run_module_eagerly")


def network():
    return mlp((FEATURES,), 3, (6, 5), "tanh", output="cost", seed=0)


class TestAuxiliaryCosts(TestCase):
    def test_loss(self):
        """L(out) + alpha sum_i L(aux_i), which trains all layers."""
        alpha, model = 0.25, network()
        training = auxiliary_costs(model, 3, seed=1)
        training.compile(
            "sgd", **training.losses_and_weights(SOSRLoss(C), lambda: SOSRLoss(C), alpha)
        )
        outputs = training(X)
        names = ["output", "auxiliary_1", "auxiliary_2"]
        assert sorted(outputs) == sorted(names)
        parts = [to_numpy(sosr(C[LABELS], outputs[name])).mean() for name in names]
        before = training.get_weights()
        logs = training.fit(X, training.targets(LABELS), batch_size=12, verbose=0).history
        self.assertAllClose(np.array(logs["loss"]), [parts[0] + alpha * sum(parts[1:])])
        for weight, old in zip(training.get_weights(), before, strict=True):
            assert np.any(weight != old)
        # The model has the trained weights, and nothing of the auxiliary outputs.
        self.assertAllClose(training(X)["output"], model(X))
        assert decide(model, X).shape == (12,) and len(model.outputs) == 1

    def test_convolutions(self):
        training = auxiliary_costs(caffe_cifar10((8, 8, 3), 3, output="cost"), 4)
        auxiliary = [end.shape for name, end in training.output.items() if name != "output"]
        assert auxiliary == [(None, 4)] * 4  # Three convolutions and a dense layer.

    def test_a_model_within_the_model(self):
        backbone = BUILDERS["functional"]([layers.Dense(5, "relu")])
        model = keras.Sequential([keras.Input((FEATURES,)), backbone, layers.Dense(3)])
        training = auxiliary_costs(model, 3, seed=0)
        outputs = training(X)
        assert sorted(outputs) == ["auxiliary_1", "output"]
        head = training.get_layer("auxiliary_1")
        self.assertAllClose(outputs["auxiliary_1"], head(backbone(X)), rtol=1e-5)
