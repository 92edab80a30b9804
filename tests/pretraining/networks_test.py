"""The models whose hidden layers pre-training takes, and those that it refuses."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.pretraining.hidden_layers import hidden_layers
from tests.pretraining.pretrain_test import QUICK, Batches, X, make_net
from tests.support.weights import changed_layers, weights_by_layer

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
Dense = keras.layers.Dense


def network(*layers, shape=(6,)):
    """A functional model of these layers and a head."""
    inputs = hidden = keras.Input(shape)
    for layer in layers:
        hidden = layer(hidden)
    return keras.Model(inputs, Dense(3, name="head")(hidden))


def hidden(activation, *between):
    first, second = (Dense(units, activation, name=str(units)) for units in (5, 4))
    return [first, *between, second, keras.layers.BatchNormalization()]


def sequential():
    scale = keras.layers.Rescaling(0.5, offset=0.25)
    return keras.Sequential([keras.Input((6,)), scale, *hidden("sigmoid"), Dense(3)])


def convolutional():
    return csdl.models.caffe_cifar10((8, 8, 1), 3, variant="quick", mean=100.0)


def squares(number):
    return np.random.default_rng(0).uniform(size=(20, number, number, 1)).astype("float32")


ANY = {"reconstruction": "squared_error"}
NAMES = ["5", "4"]


@pytest.mark.parametrize(
    "make,x,names,arguments",
    [
        (lambda: network(*hidden("sigmoid", keras.layers.Dropout(0.5))), X, NAMES, {}),
        (sequential, Batches(), NAMES, {}),
        (lambda: csdl.models.mlp((3, 3, 1), 3, (5,)), squares(3), ["hidden_1"], {}),
        (lambda: network(keras.layers.Rescaling(20.0), *hidden("relu")), Batches(), NAMES, ANY),
        (convolutional, squares(8), ["ip1"], ANY),
    ],
    ids=["functional", "sequential", "images", "squared error", "convolutional"],
)
def test_hidden_layers_change_and_no_others(make, x, names, arguments):
    model = make()
    assert [layer.name for layer in hidden_layers(model)] == names
    before = weights_by_layer(model)
    histories = csdl.pretrain(model, x, **QUICK, **arguments)
    assert changed_layers(model, before) == names and len(histories) == len(names)
    assert np.isfinite([history.history["loss"] for history in histories]).all()


@pytest.mark.parametrize(
    "make,x,match",
    [
        (
            lambda: make_net(activation="relu"),
            X,
            "'hidden_1' with activation 'relu'.*squared_error",
        ),
        (lambda: network(*hidden("sigmoid", keras.layers.Rescaling(3.0))), X, "squared_error"),
        (network, X, "Expected a model with hidden keras.layers.Dense"),
        (
            lambda: network(Dense(5, name="steps"), keras.layers.Flatten(), shape=(7, 6)),
            np.zeros((4, 7, 6)),
            "inputs .batch, features.*'steps'",
        ),
    ],
    ids=["relu", "codes", "none", "sequences"],
)
def test_errors_before_training(make, x, match):
    model = make()
    before = weights_by_layer(model)
    with pytest.raises(ValueError, match=match):
        csdl.pretrain(model, x, **QUICK)
    assert not changed_layers(model, before)
