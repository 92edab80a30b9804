"""Tests of auxiliary outputs: the loss they add up to, and that they are dropped."""

import keras
import numpy as np
import pytest
from keras import layers

from csdl_keras import SOSRLoss, decide
from csdl_keras.losses import PoissonCostLoss, sosr
from csdl_keras.models import AuxiliaryCostModel, auxiliary_costs, caffe_cifar10, mlp
from tests.support.small_models import BUILDERS, FEATURES, Subclassed, inputs
from tests.support.testing import TestCase, to_numpy

C = np.array([[0.0, 0.25, 1.0], [1.0, 0.0, 0.5], [0.125, 0.75, 0.0]])
X = inputs(12)
LABELS = np.arange(12) % 3


def network(output="cost"):
    return mlp((FEATURES,), 3, (6, 5), "tanh", output=output, seed=0)


class TestAuxiliaryCosts(TestCase):
    @pytest.mark.parametrize("alpha", [0.25, 2.0])
    def test_loss(self, alpha):
        """L(out) + alpha sum_i L(aux_i)."""
        training = auxiliary_costs(network(), 3, seed=1)
        training.compile(
            "sgd", **training.losses_and_weights(SOSRLoss(C), lambda: SOSRLoss(C), alpha)
        )
        outputs = training(X)
        names = ["output", "auxiliary_1", "auxiliary_2"]
        assert sorted(outputs) == sorted(names)
        parts = [to_numpy(sosr(C[LABELS], outputs[name])).mean() for name in names]
        logs = training.evaluate(X, training.targets(LABELS), verbose=0, return_dict=True)
        self.assertAllClose(logs["loss"], parts[0] + alpha * sum(parts[1:]))

    def test_every_layer_and_both_ends_are_trained(self):
        model = network()
        training = auxiliary_costs(model, 3, seed=1)
        training.compile("sgd", **training.losses_and_weights(SOSRLoss(C), lambda: SOSRLoss(C)))
        before = training.get_weights()
        training.fit(X, training.targets(LABELS), verbose=0)
        for weight, old in zip(training.get_weights(), before, strict=True):
            assert np.any(weight != old)
        # The model has the trained weights, and nothing of the auxiliary outputs.
        self.assertAllClose(training.predict(X, verbose=0)["output"], model.predict(X, verbose=0))
        assert decide(model, X).shape == (12,) and len(model.outputs) == 1

    def test_a_classifier_with_consistent_auxiliary_losses(self):
        training = auxiliary_costs(network("probability"), 3)
        training.compile(
            "adam",
            **training.losses_and_weights(
                "sparse_categorical_crossentropy", lambda: PoissonCostLoss(C)
            ),
        )
        history = training.fit(X, training.targets(LABELS), epochs=3, verbose=0).history
        assert history["loss"][-1] < history["loss"][0]

    def test_convolutions(self):
        model = caffe_cifar10((8, 8, 3), 3, output="cost")
        training = auxiliary_costs(model, 4)
        auxiliary = [end.shape for name, end in training.output.items() if name != "output"]
        assert auxiliary == [(None, 4)] * 4  # three convolutions and a dense layer

    def test_chosen_layers(self):
        training = auxiliary_costs(network(), 3, layers=["hidden_2"])
        assert list(training.output) == ["output", "auxiliary_1"]
        with pytest.raises(ValueError, match="received .'hidden_9'"):
            auxiliary_costs(network(), 3, layers=["hidden_9"])

    @pytest.mark.parametrize("build", [BUILDERS["functional"], BUILDERS["sequential"]])
    def test_anybodys_model(self, build):
        model = build([layers.Dense(5, "relu"), layers.Dropout(0.2), layers.Dense(3, "softmax")])
        assert list(auxiliary_costs(model, 3).output) == ["output", "auxiliary_1"]

    @pytest.mark.parametrize("sequential", [True, False])
    def test_a_model_within_the_model(self, sequential):
        backbone = BUILDERS["functional"]([layers.Dense(5, "relu")])
        if sequential:
            model = keras.Sequential([keras.Input((FEATURES,)), backbone, layers.Dense(3)])
        else:
            end = keras.Input((FEATURES,))
            model = keras.Model(end, layers.Dense(3)(backbone(end)))
        training = auxiliary_costs(model, 3, seed=0)
        outputs = training(X)
        assert sorted(outputs) == ["auxiliary_1", "output"]
        head = training.get_layer("auxiliary_1")
        self.assertAllClose(outputs["auxiliary_1"], head(backbone(X)), rtol=1e-5)

    def test_what_gives_logits_is_the_last_layer(self):
        model = BUILDERS["sequential"]([layers.Dense(4), layers.Dense(3), layers.Softmax()])
        assert len(auxiliary_costs(model, 3).outputs) == 2

    def test_sequences_of_any_length(self):
        model = keras.Sequential(
            [
                keras.Input((None,), dtype="int32"),
                layers.Embedding(7, 4),
                layers.GlobalAveragePooling1D(),
                layers.Dense(3),
            ]
        )
        training = auxiliary_costs(model, 3, seed=0)
        for length in (2, 5):
            assert training(np.ones((2, length), "int32"))["auxiliary_1"].shape == (2, 3)

    def test_same_seed_same_weights(self):
        first, second = (auxiliary_costs(network(), 3, seed=4).get_weights() for _ in range(2))
        for a, b in zip(first, second, strict=True):
            np.testing.assert_array_equal(a, b)

    def test_saved_and_loaded(self, tmp_path):
        training = auxiliary_costs(network(), 3)
        training.save(tmp_path / "training.keras")
        loaded = keras.saving.load_model(tmp_path / "training.keras")
        assert isinstance(loaded, AuxiliaryCostModel)
        self.assertAllClose(loaded.predict(X, verbose=0), training.predict(X, verbose=0))

    def test_what_it_refuses(self):
        with pytest.raises(ValueError, match="hidden layers that are trained"):
            auxiliary_costs(mlp((FEATURES,), 3, ()), 3)
        with pytest.raises(ValueError, match="inputs are known"):
            auxiliary_costs(Subclassed(3), 3)
        with pytest.raises(ValueError, match="`num_decisions`"):
            auxiliary_costs(network(), 0)
        with pytest.raises(ValueError, match="`alpha`"):
            auxiliary_costs(network(), 3).losses_and_weights("mse", lambda: SOSRLoss(C), 0)
