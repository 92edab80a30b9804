"""The models whose hidden layers pre-training takes, and those that it refuses."""

import contextlib

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.pretraining.pretrain import hidden_layers
from tests.pretraining.pretrain_test import QUICK, Batches, X, make_net
from tests.support.weights import changed_layers, weights_by_layer

Dense = keras.layers.Dense


class Subclassed(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = Dense(5, activation="sigmoid")
        self.head = Dense(3)

    def call(self, inputs):
        return self.head(self.hidden(inputs))


def make_layers():
    return [
        keras.layers.Rescaling(0.5, offset=0.25),
        Dense(5, activation="sigmoid", name="first"),
        keras.layers.Dropout(0.5),
        Dense(4, activation="sigmoid", name="second"),
        keras.layers.BatchNormalization(name="normalisation"),
        Dense(3, activation="softmax", name="head"),
    ]


def make_sequential():
    return keras.Sequential([keras.Input((6,)), *make_layers()])


def make_functional():
    inputs = hidden = keras.Input((6,))
    for layer in make_layers():
        hidden = layer(hidden)
    return keras.Model(inputs, hidden)


def make_quick(**kwargs):
    return csdl.models.caffe_cifar10((8, 8, 1), 3, variant="quick", **kwargs)


class TestModels:
    @pytest.mark.parametrize(
        "make_model,x", [(make_sequential, Batches()), (make_functional, X)], ids=["seq", "fun"]
    )
    def test_layers_between_are_left_as_they_are(self, make_model, x):
        model = make_model()
        assert [layer.name for layer in hidden_layers(model)] == ["first", "second"]
        before = weights_by_layer(model)
        histories = csdl.pretrain(model, x, **QUICK)
        assert len(histories) == 2
        assert changed_layers(model, before) == ["first", "second"]

    def test_inputs_of_several_dimensions(self):
        images = X.reshape(-1, 3, 2, 1)
        model = csdl.models.mlp((3, 2, 1), 3, (5,))
        before = weights_by_layer(model)
        csdl.pretrain(model, images, **QUICK)
        assert changed_layers(model, before) == ["hidden_1"]

    def test_squared_error_takes_any_inputs_and_activations(self):
        inputs = hidden = keras.Input((6,))
        hidden = keras.layers.Rescaling(20.0, offset=-10.0)(hidden)
        hidden = Dense(5, activation="relu", name="first")(hidden)
        hidden = keras.layers.BatchNormalization(name="normalisation")(hidden)
        hidden = Dense(4, activation="relu", name="second")(hidden)
        model = keras.Model(inputs, Dense(3, name="head")(hidden))
        before = weights_by_layer(model)
        histories = csdl.pretrain(model, Batches(), reconstruction="squared_error", **QUICK)
        assert changed_layers(model, before) == ["first", "second"]
        assert np.isfinite([history.history["loss"] for history in histories]).all()

    def test_cross_entropy_refuses_relu_layers(self):
        model = make_net(activation="relu")
        before = weights_by_layer(model)
        with pytest.raises(ValueError, match="'hidden_1' with activation 'relu'.*squared_error"):
            csdl.pretrain(model, X, **QUICK)
        assert not changed_layers(model, before)

    def test_cross_entropy_takes_a_relu_layer_that_no_other_follows(self):
        model = csdl.models.mlp((6,), 3, (5,), activation="relu")
        assert len(csdl.pretrain(model, X, **QUICK)) == 1

    @pytest.mark.parametrize("x", [X, Batches()], ids=["array", "dataset"])
    def test_cross_entropy_refuses_codes_out_of_range_before_any_training(self, x):
        inputs = hidden = keras.Input((6,))
        hidden = Dense(5, activation="sigmoid", name="first")(hidden)
        hidden = keras.layers.Rescaling(3.0)(hidden)
        hidden = Dense(4, activation="sigmoid", name="second")(hidden)
        model = keras.Model(inputs, Dense(3, name="head")(hidden))
        before = weights_by_layer(model)
        with pytest.raises(ValueError, match="squared_error"):
            csdl.pretrain(model, x, **QUICK)
        assert not changed_layers(model, before)

    def test_a_bayes_classifier_keeps_its_output_layer(self):
        """Whether its hidden layers are found or the model is refused."""
        model = csdl.bayes_classifier(make_net(), csdl.costs.zero_one(3))
        before = weights_by_layer(model)
        with contextlib.suppress(ValueError):
            csdl.pretrain(model, X, **QUICK)
        assert not {"probability", "bayes_decision"} & set(changed_layers(model, before))

    def test_the_convolutional_network(self):
        """Its one hidden Dense layer learns from the features of the convolutions."""
        images = np.random.default_rng(0).uniform(size=(20, 8, 8, 1)).astype("float32")
        model = make_quick(mean=100.0)
        assert [layer.name for layer in hidden_layers(model)] == ["ip1"]
        before = weights_by_layer(model)
        csdl.pretrain(model, images, reconstruction="squared_error", **QUICK)
        assert changed_layers(model, before) == ["ip1"]

    def test_no_hidden_layers(self):
        model = keras.Sequential([keras.Input((6,)), Dense(3)])
        with pytest.raises(ValueError, match="Expected a model with hidden keras.layers.Dense"):
            csdl.pretrain(model, X, **QUICK)

    def test_models_without_known_inputs(self):
        model = Subclassed()
        model(X)
        for wrong in (model, keras.Sequential([Dense(5), Dense(3)]), "mlp"):
            with pytest.raises(ValueError, match="Expected a keras.Model"):
                csdl.pretrain(wrong, X, **QUICK)

    def test_dense_layers_over_sequences(self):
        inputs = keras.Input((7, 6))
        hidden = keras.layers.Flatten()(Dense(5, activation="sigmoid", name="steps")(inputs))
        model = keras.Model(inputs, Dense(3)(hidden))
        with pytest.raises(ValueError, match="inputs .batch, features.*'steps'"):
            csdl.pretrain(model, np.zeros((4, 7, 6)), **QUICK)
